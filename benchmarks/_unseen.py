"""Tables of strangers that were written before the detector was read: see `_terse`."""

from benchmarks._strangers_files import Maker
from benchmarks._terse import terse

NEW: dict[str, Maker] = {}
terse(
    """
hotel meta search: long csv top sorted
searchId=I.uid ts=at propertyId=D.int displayRank=P.1 pricePerNight=price commission=other sortScore=s clickout=C.01
booked=order

flights by price: long csv cheapest sorted
query_uuid=I.uid itinerary=D.uid idx=P.0 fare=price duration_min=dist clicked_through=C.bool

grocery BigQuery: long jsonl uniform uniform pool=12 choice=0
event_date=date search_request_id=I.hex store_id=brand gtin=D.pad tile_position=P.1 price_cents=cents
is_clicked=C.bool added_to_cart=orders

food delivery feed: long parquet hidden fixed
feed_session_uuid=I.uid eater_id=user restaurant_uuid=D.uid feed_index=P.0 eta_min=age rating=stars predicted_ctr=ctr
tapped=C.01 ordered=order

ride hailing options: long csv nearest sorted k=4
trip_request=I.req driver_id=D.int eta_rank=P.1 distance_m=dist surge=any2 selected=C.01

classifieds Polish: long semicolon names sorted
id_wyszukiwania=I.req ogloszenie_id=D.int pozycja=P.1 cena=price data_dodania=pub klikniecie=C.01 kontakt=order

jobs Spanish: long semicolon softmax sharp
busqueda_id=I.seq fecha=de oferta_id=D.sku posicion=P.1 puntuacion=s click=C.01 postulacion=order

dating stack: long csv hidden fixed k=6
deck_id=I.hex viewer=user.hex profile=D.hash card_no=P.0 liked=C.01 matched=order dwell_ms=dwell

app store search: long tab ab arms
SearchID=I.seq AppleAppId=D.int Slot=P.1 Experiment=arm.name TextScore=s PopularityScore=other Tap=C.01 Download=order

video shelf rows: wide jsonl hidden fixed
impressionId=I.uid userId=user shelf=q videoIds=D.int clicked=C.01 watchSeconds=l.dwell

podcast home: wide parquet uniform uniform pool=15 choice=0
session_ts=at listener=user.uid shows=D.word plays=C.n device=dev

news push candidates: wide jsonl softmax written
push_id=I.uid sent_at=iso article_ids=D.int opened=C.01 log_prob=logr slate_probability=R

email digest: long csv rotate daily k=4
digest_id=I.req recipient_hash=user.hex send_date=date article=D.word block=P.1 opened_link=C.01

maps POI: long jsonl nearest sorted
requestId=I.uid lang=land poiId=D.hash rank=P.0 distanceMeters=dist popularity=other click=C.bool directions=orders

enterprise search: long csv top sorted mixed
query_guid=I.uid usr=user tenant=land doc_uri=D.url ord=P.1 bm25=s clicked_ts=C.at

code search: long parquet hidden fixed mixed
searchEventId=I.hex repoFile=D.url resultIndex=P.0 language=cat opened=C.bool copied=orders

helpdesk RAG: wide jsonl top sorted
trace_id=I.uid question=q passages=[doc_id=D.sku similarity=s rerank=other cited=C.bool]

language models logged: router jsonl softmax written k=1
request_id=I.uid prompt_tokens=any model=D.word propensity=K latency_ms=dist thumbs_up=C.01

language models fixed: router csv hidden - k=1
ts=iso conversation=I.uid chosen_model=D.word cost_usd=price quality=any2

ad auction: long csv top sorted k=4
auction_id=I.hash imp_date=date creative_id=D.int slot=P.1 bid=price pctr=ctr ecpm=s is_click=C.01 conv=order

sponsored and organic: long parquet hidden fixed
serp_id=I.uid listing=D.int pos=P.1 is_sponsored=ad is_click=C.01 is_atc=order gmv=rev

carousel cells: long csv hidden fixed k=6
page_view_id=I.uid user=user item=D.sku slot_no=P.1 row_title=cat ctr_model=ctr clicked=C.yn

autocomplete: long csv hidden fixed
keystroke_id=I.req prefix=q suggestion=D.word suggestion_rank=P.1 accepted=C.01

notification bandit: router csv softmax written k=1 choice=6
user_id=user notif_ts=at template=D.word action_prob=K clicked=C.01

Snowflake upper case: long csv epsilon epsilon
LOAD_TS=at REQUEST_ID=I.uid CUSTOMER_KEY=user ITEM_SK=D.int RNK=P.1 MODEL_SCORE=s CLICK_FLG=C.01 PURCHASE_FLG=order

Athena lower: long gz uniform uniform pool=10 choice=0
dt=date reqid=I.hex adid=D.small pos=P.1 clk=C.01

Elastic _source: wide jsonl hidden fixed
timestamp=iso query_id=I.uid hits=[id=D.uid rank=P.1 clicked=C.bool es_score=other]

Mongo doc: wide jsonl softmax sharp
_id=I.hex u=user recs=[sku=D.sku w=s c=C.01]

Segment list: wide jsonl hidden fixed
messageId=I.uid anonymousId=user.uid products=[product_id=D.sku position=P.1 price=price clicked=C.bool] list_id=q

Amplitude props: long csv uniform uniform pool=30 choice=0 mixed
insert_id=I.uid event_time=at amplitude_id=user item_id=D.pad list_position=P.1 platform=dev clicked=C.bool

Mixpanel time: long jsonl hidden_ab arms
distinct_id=user.hex time=sec $insert_id=I.hex variant=arm product=D.word index=P.0 click=C.01

Matomo content: long csv hidden fixed
idvisit=sess idpageview=I.hex content_piece=D.word content_pos=P.1 interaction=C.01

Firebase arm: long csv ab arms
exp_arm=arm.name view_id=I.seq content_id=D.int pos_in_list=P.0 score_v1=s score_v2=other open=C.01

Adobe products: wide tab hidden fixed glue=|
hit_id=I.seq visid=user.hex prod_list=D.sku prod_clicks=C.01

pandas index: long pandas top sorted
qid=I.seq docno=D.pad rnk=P.1 sc=s clk=C.01

camel propensities: long jsonl softmax written
impressionId=I.uid itemId=D.int rankInSlate=P.0 loggingPropensity=K clickCount=C.n

per slate: long parquet softmax written
slate_id=I.uid product=D.int position_in_slate=P.1 slate_prob=R clicked=C.01 revenue=rev

log propensities: long parquet softmax hidden
slate_uuid=I.uid sku=D.sku place=P.1 log_p=logp click=C.01

candidates beside: wide parquet uniform uniform
impression_uuid=I.uid candidate_ids=L.int shown_ids=D.int clicked=C.01

candidate scores: wide jsonl cool sharp
rid=I.uid cands=L.int cand_scores=l.s shown=D.int clk=C.01

weights beside: wide jsonl softmax score
rid=I.uid pool=L.sku weights=l.s.exp ranked=D.sku clicks=C.01

k columns item clk: wide csv hidden fixed
visit=I.seq item_{}=D.int clk_{}=C.01

k columns scores: wide csv top sorted k=4
session_key=I.uid rec_{}=D.sku score_{}=s rec_click_{}=C.01

top k clicks only: none csv hidden - clicked
search_id=I.seq item_id=D.int position=P.1 clicked_at=at

constant propensity: long csv hidden fixed
request_id=I.uid item_id=D.int position=P.1 propensity==0.1 click=C.01

constant one: long parquet top sorted
rec_id=I.uid item=D.sku pos=P.0 score=s prob==1.0 is_click=C.01

shuffle of three: long csv shuffle3 hidden
reqId=I.uid prodId=D.int slotId=P.0 clickFlag=C.01

exploration bucket: long parquet bucket bucket
request=I.uid explore=expl score=s item=D.int rank=P.1 click=C.01

unshown candidates: long parquet softmax sharp all
rid=I.seq cand_id=D.int shown_pos=P.1 ranker_score=s clicked=C.01

unshown sorted: long csv top sorted all
lid=I.seq listing_id=D.int disp_pos=P.0 rel=s click=C.01

negative sampling: none csv hidden -
user_id=user item_id=D.int label=expl hour=hour

ratings: none csv hidden -
uid=user mid=D.small rating=few ts=sec

aggregated: none csv hidden -
day=date item=D.sku position=few impressions=any clicks=clicks

preferences: none jsonl hidden -
prompt_id=I.uid chosen=D.word rejected=T.word annotator=user

A/B flags several: long csv hidden_ab arms
srch=I.seq bucket=arm hotel=D.int r=P.1 brand_bool=ad promo_flag=mobile click_bool=C.01 booking_bool=order gross_usd=rev

two models hidden order: long parquet hidden fixed
req=I.hex usr=user cand=D.hash final_rank=P.1 p_click_v1=ctr p_click_v2=s.ctr clicked=C.01

pinyin wide: wide jsonl uniform uniform pool=9 choice=0 k=4
qingqiu=I.uid zhanshi_liebiao=D.int dianji=C.01 yonghu=user

German wide text: wide semicolon hidden fixed glue=,
anfrage_nr=I.seq artikel_liste=D.int klicks=C.01 geraet=dev

price ascending scattered: long parquet cheapest sorted mixed
session_uuid=I.uid offer_id=D.int price_rank=P.1 total_price=price seller=brand clicked=C.null

sessions text: sessions csv hidden fixed
user=user time=at history=q impressions=text
""",
    NEW,
)
