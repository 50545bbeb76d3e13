"""Tables of strangers, the second and third batch that were written before the detector was read: see `_terse`."""

from benchmarks._strangers_files import Maker
from benchmarks._terse import terse

SECOND: dict[str, Maker] = {}
THIRD: dict[str, Maker] = {}
terse(
    """
real estate portal: long zst top sorted
search_guid=I.uid visitor=user.hex expose_id=D.int list_pos=P.1 asking_price=price rank_score=s opened=C.01
enquiry=order

insurance quotes: long semicolon cheapest sorted k=6
vorgang=I.seq versicherer=D.sku rang=P.1 beitrag=price angeklickt=C.01 abgeschlossen=order

banking offers: wide parquet softmax written k=3
decision_id=I.uid customer=user offers=D.sku accepted=C.01 slate_propensity=R channel=dev

telecom upsell: router csv softmax written k=1 choice=5
msisdn_hash=user.hex offer_code=D.sku p_offer=K converted=C.01 event_dt=at

health articles: long orc hidden fixed
page_load_id=I.hash article_id=D.big module_pos=P.0 clicked=C.bool topic=cat

course catalogue: long sqlite top sorted
search_event=I.seq course_code=D.sku result_rank=P.1 lexical_score=s enrolled=order clicked=C.01

library OPAC: long bare hidden fixed
session=I.req record=D.pad rank=P.1 clicked=C.01

museum guide: wide json uniform uniform pool=11 choice=0 k=4
tour_stop=I.uid exhibits=D.word tapped=C.01 language=land

recipe home: long duckdb uniform uniform pool=10 choice=0
feed_load_id=I.uid recipe_slug=D.word slot=P.1 clicked=C.01 saved=order

fashion outfits: wide bom hidden fixed glue=|
outfit_request=I.hex look_ids=D.int look_clicks=C.01 size_group=brand

car marketplace: long hive hidden_ab arms
dt=date srp_id=I.uid test_group=arm vehicle_id=D.int srp_position=P.1 vdp_click=C.01 lead=order list_price=price

energy tariffs: long semicolon cheapest sorted
anfrage=I.uid plz=any tarif=D.sku platz=P.1 jahreskosten=price klick=C.ja

train connections: long csv top sorted k=4
trip_search_id=I.uid connection_id=D.uid row_no=P.0 utility=s selected=C.01 fare=price

airline seats: wide jsonl cool sharp k=3
pnr=I.hex ancillaries=D.sku pool=L.sku utility=l.s bought=C.01

restaurant bookings: long csv hidden fixed
search_token=I.uid venue=D.word position_shown=P.1 party_size=few venue_click=C.01 reservation=order

game shop: long parquet uniform uniform pool=8 choice=0 k=4
shop_refresh_id=I.uid player_id=user.hex bundle_id=D.small shelf_slot=P.0 viewed_detail=C.01 purchased=order usd=rev

betting markets: long csv hidden fixed mixed
pageview_uuid=I.uid market_id=D.int display_order=P.1 odds=price stake_placed=C.01

finance news: wide csv rotate daily
rendered_at=iso story_ids=D.int story_clicks=C.01 edition=land

legal search: long jsonl top sorted mixed
queryId=I.uid docketNo=D.pad resultRank=P.1 relevanceScore=s isOpened=C.bool dwellSecs=dwells

patent search all: long parquet top sorted all
query_no=I.seq publication=D.sku shown_rank=P.1 model_score=s opened=C.01

paper recommender: wide jsonl softmax sharp
rec_set_id=I.uid cand_ids=L.int cand_logits=l.s rec_ids=D.int clicks=C.01

pharmacy: long csv names sorted
requete=I.req produit=D.pad position=P.1 mis_en_ligne=pub clic=C.oui commande=order

furniture: long parquet softmax written
page_id=I.uid user_pseudo=user.hex sku=D.sku slot_index=P.0 slot_prob=K click=C.bool atc=order

lots of auctions: stream jsonl hidden fixed
event_type=E.lot_impression/lot_click view_id=I.uid lot_no=D.int grid_pos=P.1 ts=ms

coupons: two csv hidden fixed
coupon_list_id=I.uid coupon_id=D.int list_position=P.1 shown_at=at || coupon_list_id=I.uid coupon_id=D.int clicked_at=at

loyalty tiles: wide csv hidden fixed k=4
member=user load_id=I.uid tile{}=D.sku tile{}_clk=C.01

in-car places: long gz nearest sorted
nav_query=I.hex poi=D.hash list_idx=P.0 drive_m=dist chosen=C.01 veh=user.hex

TV rows: long parquet hidden fixed k=6
screen_id=I.uid profile_id=user title_id=D.int col=P.0 row_name=cat played=C.01 minutes=dwell

voice skills: router jsonl hidden - k=1
utterance_id=I.uid skill=D.word confidence=s.ctr success=C.01

HR mobility: long csv shuffle3 hidden
suggestion_run=I.uid employee=user.hex vacancy=D.sku shown_at_position=P.1 clicked=C.yn

freelancers: long csv bucket bucket
brief_id=I.uid freelancer_id=D.int pos=P.1 rank_score=s randomised=expl invited=order clicked=C.01

spare parts: long semicolon hidden fixed mixed
ANFRAGE_ID=I.seq TEILE_NR=D.pad POS_NR=P.pad PREIS=price GEKLICKT=C.01 BESTELLT=order

charity asks: wide jsonl softmax score k=3
render_id=I.uid campaign_pool=L.sku campaign_weights=l.s.exp campaigns=D.sku clicked=C.01

government forms: long csv top sorted
qid=I.seq form_url=D.url rank=P.th bm25_score=s click=C.word

survey totals: none csv hidden -
country=land item=D.sku shows=any ctr=any2

order lines: none semicolon hidden -
bestellung=I.seq artikel=D.pad menge=few umsatz=any2 datum=de

chat ratings: none jsonl hidden -
conversation_id=I.uid model=D.word stars=few comment=q

sensor rows: none parquet hidden -
device=user.hex at=at temperature=any2 humidity=any

pairs of answers: none csv hidden -
battle_id=I.uid model_a=D.word model_b=T.word winner=arm

constant propensity per list: long parquet hidden fixed
widget_load=I.uid item=D.int position=P.1 widget_propensity==0.008333 clicked=C.01
""",
    SECOND,
)
terse(
    """
music radio: long parquet epsilon epsilon
station_load_id=I.uid track_id=D.int idx=P.0 affinity=s finished=C.01

cloud marketplace: long jsonl top sorted
searchRequestId=I.uid accountId=user solutionId=D.uid resultPosition=P.1 textMatch=s detailView=C.bool
trialStarted=orders

gym classes: long csv names sorted
app_open_id=I.uid class_id=D.int tile_index=P.0 hours_to_start=age tapped=C.01 booked=order

ticket resale: long csv cheapest sorted mixed
event_page_view=I.uid listing=D.hash row=P.1 ask_usd=price clicked=C.01 sold=order

radio ads: wide parquet uniform uniform pool=9 choice=0 k=3
ad_break_id=I.uid spots=D.sku completed=C.01

wine shop: long semicolon hidden fixed
zoekopdracht=I.seq wijn_id=D.int positie=P.1 prijs=price geklikt=C.01 besteld=order

Portuguese classifieds: long csv top sorted
id_busca=I.uid id_anuncio=D.int posicao=P.1 relevancia=s clicou=C.01 contato=order

Turkish shop: long jsonl hidden fixed
arama_id=I.uid urun_id=D.int sira=P.1 fiyat=price tiklandi=C.01

Swedish jobs: long csv hidden fixed
sok_id=I.hex annons_id=D.int plats=P.1 klickad=C.01 ansokt=order

Russian translit: long csv hidden fixed
zapros_id=I.uid tovar_id=D.int pozitsiya=P.0 klik=C.01 zakaz=order

git hosting: wide jsonl hidden fixed
request=I.uid payload=[repo=D.word stars=stars opened=C.bool]

browser newtab: long csv uniform uniform pool=9 choice=0
tab_open_uuid=I.uid tile_id=D.small tile_pos=P.0 is_clicked=C.bool is_dismissed=orders

calendar slots: long csv rotate daily k=4
offer_set=I.seq slot_id=D.small display_pos=P.1 picked=C.01

meal kit: wide csv hidden fixed k=4
week_menu_id=I.uid dish_{}=D.sku picked_{}=C.01

meal kit from zero: wide parquet softmax written k=3
menu_id=I.uid d{}_sku=D.sku d{}_click=C.01 menu_prob=R

slot chances wide: wide parquet softmax written
impression_uuid=I.uid shown=D.int clicked=C.01 slot_probs=K

per slot in structs: wide jsonl softmax written
reqId=I.uid slots=[itemId=D.int prob=K clicked=C.bool]

ab by user: long parquet hidden_ab arms
uid=user request_id=I.uid variant=arm.name doc=D.int pos=P.1 clicks=C.n

ab with scores: wide parquet ab arms
req=I.uid variant=arm pool=L.int docs=D.int model_a=l.s clk=C.01

constant by slot: long csv top sorted
list_id=I.uid prod=D.int pos=P.1 score=s p_display==0.2 clicked=C.01

predicted as probability: long parquet hidden fixed
list_uid=I.uid prod=D.int pos=P.0 click_probability=ctr clicked=C.01

softmaxed score: long csv top sorted
view=I.uid item=D.int slot=P.1 prob=s.ctr clicked=C.01

unshown chances: long parquet softmax sharp all
slate_uid=I.seq candidate=D.int final_pos=P.1 logit=s click=C.01

stream of two kinds: stream csv hidden fixed
action=E.impression/click impression_id=I.uid item_id=D.int rank=P.1 time=at

two files: two jsonl hidden fixed
requestId=I.uid sku=D.sku pos=P.0 at=ms || requestId=I.uid sku=D.sku clickedAt=ms

bandit with arms: router parquet uniform written k=1 choice=0 pool=6
round=n arm_pulled=D.small pscore=K reward=C.01 x1=any2

thumbs only: none csv hidden -
user=user item=D.int thumbs=expl

funnel counts: none csv hidden -
week=hour step=few users=any conversion=any2

transcripts: none jsonl hidden -
call_id=I.uid agent=user text=q duration=any2

shuffled candidates: wide parquet uniform uniform
id=I.hash pool=L.int served=D.int hits=C.01
""",
    THIRD,
)
