"""The words by which tables call the roles of a log, and how well a column's name fits a role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from operator import itemgetter

from ...log.schema import GROUPING

_ITEM = """item product prod sku doc document docno prop property asin object corpus_item hotel track song
        movie film article news video listing offer ad advert creative book restaurant recipe job candidate game app
        url uri
        title name content post photo image pin entity option course module tile card hit isbn ean accommodation
        artikel produkt angebot stelle anzeige produit annonce offre livre producto articulo oferta anuncio pelicula
        libro prodotto articolo shangpin wupin neirong 商品 内容"""
ROLE_WORDS: Mapping[str, str] = {
    "impression": """impression imp ranking recommendation request req srch search serp result_page page_view pageview
        slate list display_list reco rec feed auction exposure qry query view session visit group
        anfrage suchanfrage suche recherche requete busqueda solicitud ricerca richiesta qingqiu sousuo sitzung sesion
        请求 搜索""",
    "item": _ITEM,
    "position": """position pos rank ordinal slot spot place placement display_order display_position result_rank
        ranking order row index idx nr platz rang reihenfolge posicion posizione weizhi paiming 位置 排名""",
    "click": """click clicked clicks clk clicktime clickthrough klick geklickt klicks angeklickt clic clics clique
        cliques clicado clicou cliccato dianji 点击 點擊 kattintas kattintott katt tik tiklandi tiklama pulsado
        pinchado nhap клик клики кликнул нажатие клік κλικ クリック 클릭 क्लिक نقر نقرة""",
    "slate": f"""slate items shown ranking list results ranked displayed impressions recommendations recommended rec
        recs reco recos
        products docs documents hits tracks songs hotels articles {_ITEM}""",
    "candidates": "candidates candidate pool eligible available retrieved choices options catalog catalogue actions",
    "propensity": """propensity propensities pscore pscores prob probs probability probabilities
        action_prob logging_prob policy_prob pr pi p_item p_slot p_shown p_action p_log p_logging p_policy p_slate
        p_display p_select prob_item prob_slot prob_shown prob_action prob_slate
        wahrscheinlichkeit probabilite probabilidad gailv""",
    "query": """query search_term search_query term keyword keywords q querystring search_phrase topic suchbegriff
        suchwort search""",
    "user": """user uid member customer visitor viewer listener cookie person account shopper client reader nutzer kunde
        utilisateur usuario cliente utente yonghu 用户""",
    "session": "session visit sess",
    "outcome": """book booked booking order ordered purchase purchased buy bought conversion converted revenue gmv
        reward dwell dwelltime cart basket sale sales sold price_paid earned spend spent install installed liked like
        saved rating grade label relevance return returned reordered watched watchtime completed payoff payout profit
        gekauft bestellt
        bestellung gebucht buchung umsatz beworben achat achete commande reserva reservado compra comprado venta
        acquisto goumai xiadan 购买 下单""",
    "used": """tap tapped open opened select selected chosen pick picked played play plays listened listen listens
        engaged interacted streamed accept accepted contact contacted apply applied install installed reward rewards
        purchase purchased purchases thumbs_up upvoted solved resolved succeeded success interaction interactions
        engagement engagements liked swiped cited picked expanded visited followed voted watched streamed streams
        tapped answered enrolled enquired detail_view detail_views detailview
        viewed_detail outcome outcomes feedback
        geoeffnet ausgewaehlt gewaehlt ouvert choisi abierto elegido aperto scelto
        otwarte wybrane geopend gekozen oppnad vald""",
    "option": """action arm option choice model route variant variation treatment creative banner placement template
        message
        subject subject_line offer ad advert llm strategy policy_action""",
    "shown": "impressions views displays exposures shows shown served",
    "kind": "kind event event_type event_name event_kind type action action_type action_name interaction_type activity",
    "time": """time timestamp ts at date datetime event_time event_timestamp created created_at occurred_at
        server_time""",
}
"""Role -> its words, the likeliest first. `outcome`: what is earned later. `used`: what may stand for a click."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ELSE = _set(
    """prev previous past hist historical history avg mean total last before prior since mm median old new organic
    predicted expected ctr rate score model price destination category"""
)
"""Words beside which a role's word tells of something else: `prev_clicks` is no click."""
_AFFIXES = _set(
    """id ids uuid guid key code hash is has was did the no num number n cnt count bool boolean flag ind indicator at
    ts time timestamp date datetime value val display ed on in page result res my text string name list array vector
    mask yn flags fl flg seq"""
)
"""Words that tell how a value is written, not what it is."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_WHOLE_LETTERS = str.maketrans({"ß": "ss", "\u0131": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "Ł": "L"})
"""Letters that are no letter with an accent."""
_CLICKED = re.compile(
    r"(ge|an|ange|aange|door|pro|di|be|vor)?(cli[ck]k?|klick|klikk?|clk)"
    r"(?!.*(able|bait|stream|house|rate|prob|pred|score))"
)
"""How words for a click begin in languages that share one: `clickout`, `geklikt`, `kliknięcie`."""
_TAKEN = _set("pulled taken chosen selected picked played sent served shown assigned used")
"""Words that tell that an option was taken."""
_AFTER_CLICKS = _set("through thru out link")
"""Words behind that of a click or a use which do not change it."""


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case, without accents: `srchId`, `srch_id` and `srch-id` have two."""
    plain = "".join(
        one for one in unicodedata.normalize("NFD", name.translate(_WHOLE_LETTERS)) if not unicodedata.combining(one)
    )
    return [part.lower() for part in _PARTS.findall(plain)]


CALLED = 3
"""How well a name must fit a role to look at the first rows, or to be of a row's time: `release_date` fits less."""


@lru_cache(maxsize=4096)
def closeness(role: str, name: str) -> int:
    """Return how well a name fits a role: 4 if it is the role's, 3 a word, 2 at its end, 1 within, 0 not at all."""
    if name == role:
        return 4
    words, own = _words_for(role, name), _words(role)
    core = [word for word in words if word not in _AFFIXES]
    if role == "query" and core == ["search"] and len(words) > 1:
        return 1  # `search_id` is one search, `search` what was searched for
    of_choices = role == "propensity" and words[:1] and words[0] in _PROBABLE and _of_choices(words[1:])
    if of_choices or "_".join(core) in own or "_".join(words) in own or "".join(words) in own:
        return 3
    if any(word in _ELSE for word in words) or (role == "propensity" and _of_deeds(words)):
        return 1 if own & set(words) else 0
    if core and core[-1] in own:
        return 2
    return 1 if own & set(words) else 0


def _words_for(role: str, name: str) -> list[str]:
    """Return the words of a name, those that are written together apart, without what changes nothing for a role."""
    own, words = _words(role), [part for word in parts(name) for part in _apart(word)]
    words = [word.removesuffix("id") if word.removesuffix("id") in own else word for word in words]  # `itemid`
    if role == "click":
        words = ["click" if _CLICKED.match(word) else word for word in words]
    idle = {"option": _TAKEN, "click": _AFTER_CLICKS, "used": _AFTER_CLICKS}.get(role, frozenset())
    return [word for word in words if word not in idle] or words


def _of_choices(words: list[str]) -> bool:
    """Whether words tell what is chosen: `p_offer` is the probability that the offer is chosen."""
    return bool(words) and any(
        closeness(role, "_".join(words)) >= 3 for role in ("item", "option", "slate", "position")
    )


_PROBABLE = _set("p pr prob proba pi propensity")


def _of_deeds(words: list[str]) -> bool:
    """Whether words tell what people do: the probability of a click or of a sale is a prediction."""
    return any(closeness(role, word) >= 2 for role in ("click", "outcome", "used") for word in words)


@lru_cache(maxsize=4096)
def _apart(word: str) -> tuple[str, ...]:
    """Return the words that are written together in one, as `displayrank`; the word itself where they are unknown."""
    known = _known()
    if word in known or len(word) < _LONG:
        return (word,)
    ways: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(2, len(word) + 1):
        starts = (at for at in ways if word[at:end] in known)
        if (at := min(starts, default=None)) is not None:
            ways[end] = (*ways[at], word[at:end])
    found = ways.get(len(word), (word,))
    return found if any(part not in _AFFIXES for part in found) else (word,)


@lru_cache
def _known() -> frozenset[str]:
    """The words of all roles that are long enough to be told in a longer one, and what tells how a value is written."""
    words = {part for role in ROLE_WORDS for word in _words(role) for part in word.split("_")}
    return frozenset(word for word in words if len(word) > 2) | (_AFFIXES - {"ed", "in"})


_LONG = 5
"""The letters of the shortest word that may be two."""


def order(role: str, name: str) -> tuple[int, int]:
    """Return what sorts names by how likely they have a role: how well they fit, then the place of the word."""
    words = ROLE_WORDS.get(role, "").split()
    places = [words.index(word) for word in parts(name) if word in words]
    return -closeness(role, name), min(places, default=len(words))


_NO_IDS = _set(
    """n cnt count num number seq bool boolean flag flags fl flg yn ind indicator has is was did at ts time timestamp
    date datetime value val list array vector mask"""
)
"""Words that tell of a count, a time or a list, or whether something is so: `session_time` names no session."""


BEGINNING = itemgetter(slice(100))
"""As much of a name as is looked at."""
_WRITTEN = {word.replace("_", "") for role in GROUPING for word in ROLE_WORDS[role].split()} - {"q"}
GROUPED = re.compile("|".join(["^q", *sorted(_WRITTEN)]), re.MULTILINE)
"""Finds in names, without what is between their words, whether `group_columns` may find any: most logs have none."""


def may_group(columns: Collection[str]) -> bool:
    """Whether `group_columns` may find any of these, by what is in their names: most logs have none."""
    others = "\n".join(map(BEGINNING, {*columns} - {*GROUPING}))
    return GROUPED.search(re.sub("[_ -]", "", others).lower()) is not None


def group_columns(columns: Collection[str], others: Collection[str] = ()) -> dict[str, str]:
    """Return the columns that are called query, user or session in other words, by role: `user_id` is the user.

    None where the role's own name is there, which is found without, or where several are called so; a count, a time or
    a list of theirs is not. others: columns of other roles.
    """
    free = [
        name
        for name in columns
        if name == BEGINNING(name) and name not in others and not _NO_IDS.intersection(parts(name))
    ]
    called = {role: [name for name in free if closeness(role, name) >= 3] for role in GROUPING}
    return {role: names[0] for role, names in called.items() if role not in columns and len(names) == 1}


@lru_cache
def _words(role: str) -> frozenset[str]:
    return frozenset(ROLE_WORDS.get(role, role).split())
