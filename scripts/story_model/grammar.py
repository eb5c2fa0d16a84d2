"""A seeded grammar of short stories: one hero, one friend, one trouble, one way out.

Every choice that later sentences need (names, places, the lost thing) is kept in a `Scene`, so that a story stays true
to itself; everything else varies freely, so that two stories seldom share eight words in a row.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import words


@dataclass(frozen=True)
class Person:
    name: str
    kind: str  # "fox", "girl"
    character: str
    he: str

    @property
    def his(self) -> str:
        return {"he": "his", "she": "her"}[self.he]

    @property
    def him(self) -> str:
        return {"he": "him", "she": "her"}[self.he]


@dataclass(frozen=True)
class Scene:
    """What stays the same throughout one story."""

    hero: Person
    friend: Person
    place: str
    hobby: str
    day: str
    time: str
    thing: str
    color: str
    food: str
    spot: str

    @property
    def home(self) -> str:
        return f"{words.PLACES[self.place]} {self.place}"

    @property
    def hiding(self) -> str:
        return f"{words.SPOTS[self.spot]} the {self.spot}"

    @property
    def treasure(self) -> str:
        return f"{self.color} {self.thing}"


def article(word: str) -> str:
    return ("an " if word[0] in "aeio" else "a ") + word


def _person(rng: random.Random, other: Person | None = None) -> Person:
    he = rng.choice(["he", "she"])
    names = [n for n in (words.BOYS if he == "he" else words.GIRLS) if other is None or n != other.name]
    kinds = [words.CHILDREN[he], *(a for a in words.ANIMALS if other is None or a != other.kind)]
    characters = [c for c in words.CHARACTERS if other is None or c != other.character]
    return Person(rng.choice(names), rng.choice(kinds), rng.choice(characters), he)


def scene(rng: random.Random) -> Scene:
    hero = _person(rng)
    pick = rng.choice
    return Scene(
        hero, _person(rng, hero), pick(list(words.PLACES)), pick(list(words.HOBBIES)), pick(words.DAYS),
        pick(words.TIMES), pick(words.THINGS), pick(words.COLORS), pick(words.FOODS), pick(list(words.SPOTS)),
    )  # fmt: skip


def opening(rng: random.Random, s: Scene) -> list[str]:
    h = s.hero
    who = f"{article(h.character)} {h.kind} named {h.name}"
    first = rng.choice(
        [
            f"Once there was {who}.",
            f"There once was {who} who lived {s.home}.",
            f"{s.home[0].upper()}{s.home[1:]} lived {who}.",
            f"{h.name} was {article(h.character)} {h.kind} who lived {s.home}.",
            f"This is the story of {who}.",
        ]
    )
    doing = words.HOBBIES[s.hobby]
    second = rng.choice(
        [
            f"{h.name} loved {doing} and eating {s.food}.",
            f"{h.he.capitalize()} liked to {s.hobby} every {s.time}.",
            f"Every {s.time}, {h.name} went {doing} {s.home}.",
            f"{h.name} was good at {doing} and liked {s.food}.",
            f"Nobody loved {doing} more than {h.name}.",
        ]
    )
    return [first, second]


def meeting(rng: random.Random, s: Scene) -> str:
    f = s.friend
    who = f"{article(f.character)} {f.kind} named {f.name}"
    move = rng.choice(words.MOVES)
    return rng.choice(
        [
            f"Then {who} came by.",
            f"{s.hero.name} {move} to {f.name}, {article(f.character)} {f.kind}.",
            f"Near the {rng.choice(list(words.SPOTS))}, {s.hero.he} met {who}.",
            f"{f.name}, {article(f.character)} {f.kind}, {move} over.",
            f"Soon {who} heard {s.hero.him}.",
        ]
    )


def when(s: Scene, rng: random.Random) -> str:
    return rng.choice([f"One {s.day} {s.time},", f"On {article(s.day)} {s.time},", f"That {s.day} {s.time},"])


def speech(rng: random.Random, text: str, person: Person) -> str:
    mark = text[-1]
    said = "asked" if mark == "?" else rng.choice(words.SAID)
    body = text[:-1] + "," if mark == "." else text
    return f'"{body}" {said} {person.name}.'


def lost_thing(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    sad = rng.choice(words.SAD)
    return [
        f"{when(s, rng)} {h.name} could not find {h.his} {s.treasure}.",
        rng.choice(
            [f"{h.he.capitalize()} was very {sad}.", f"This made {h.name} {sad}.", f"{h.name} felt {sad} and sat down."]
        ),
        meeting(rng, s),
        speech(
            rng,
            rng.choice(["Why are you so " + sad + "?", f"Where is your {s.treasure}?", f"What is wrong, {h.name}?"]),
            f,
        ),
        speech(rng, rng.choice([f"I lost my {s.treasure}.", f"My {s.thing} is gone.", f"I miss my {s.treasure}."]), h),
        rng.choice(
            [
                f"{h.name} and {f.name} looked all {s.time}.",
                f"{f.name} looked {words.SPOTS[s.spot]} the {s.spot}, and {h.name} looked {s.home}.",
                f"{f.name} helped {h.him} look {s.home}.",
            ]
        ),
        rng.choice(
            [
                f"At last {f.name} saw the {s.thing} {s.hiding}.",
                f"The {s.treasure} was {s.hiding}!",
                f"{s.hiding[0].upper()}{s.hiding[1:]}, they found the {s.treasure}.",
            ]
        ),
    ]


def learn_skill(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    doing = words.HOBBIES[s.hobby]
    sad = rng.choice(words.SAD)
    other = rng.choice([x for x in words.HOBBIES if x != s.hobby])
    return [
        f"{when(s, rng)} {h.name} wanted to {other}, but could not.",
        rng.choice([f"{h.name} tried {s.home} and was {sad}.", f"{h.he.capitalize()} was {sad} and sat {s.hiding}."]),
        meeting(rng, s),
        speech(rng, rng.choice([f"Can you teach me to {other}?", f"Do you know how to {other}?"]), h),
        speech(
            rng,
            rng.choice([f"Yes, I love {words.HOBBIES[other]}!", f"Of course, {h.name}!", f"Let us {other} together."]),
            f,
        ),
        rng.choice(
            [
                f"They went {words.HOBBIES[other]} {s.home} until the {s.time} was over.",
                f"{f.name} showed {h.him} how to {other} {s.home}.",
                f"First {f.name}, then {h.name} tried to {other}.",
            ]
        ),
        rng.choice(
            [
                f"After some days, {h.name} could {other} very well.",
                f"Now {h.name} is as good at {words.HOBBIES[other]} as at {doing}.",
                f"Soon {h.he} could {other} like {f.name}.",
            ]
        ),
    ]


def share_food(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    return [
        f"{when(s, rng)} {h.name} made {s.food} and put it in {article(s.color)} basket.",
        rng.choice(
            [
                f"The {s.food} smelled good {s.home}.",
                f"{h.he.capitalize()} sat down {s.hiding} to eat.",
                f"{h.name} took it to {s.place}.",
            ]
        ),
        meeting(rng, s),
        speech(
            rng,
            rng.choice(
                [
                    f"I am hungry, {h.name}.",
                    f"I have had no {s.food} all {s.time}.",
                    f"{h.name}, may I have some {s.food}?",
                ]
            ),
            f,
        ),
        speech(
            rng,
            rng.choice(
                [f"Take some of my {s.food}.", f"{s.food.capitalize()} for {f.name} too!", f"Please eat, {f.name}."]
            ),
            h,
        ),
        rng.choice(
            [
                f"They ate the {s.food} together {s.hiding}.",
                f"{f.name} ate and ate, and {h.name} laughed.",
                f"The two shared the {s.food} {s.home}.",
            ]
        ),
        rng.choice(
            [
                f"The next {s.time}, {f.name} gave {h.him} {article(s.color)} {s.thing}.",
                f"To say thank you, {f.name} gave {h.name} a {s.thing}.",
                f"Then {f.name} and {h.name} went {words.HOBBIES[s.hobby]}.",
            ]
        ),
    ]


def storm(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    weather = rng.choice(["rain", "snow", "wind", "storm"])
    return [
        f"{when(s, rng)} a big {weather} came to {s.place}.",
        rng.choice(
            [
                f"{h.name} hid {s.hiding} and held {h.his} {s.treasure}.",
                f"The {weather} took {h.his} {s.treasure} away.",
                f"{h.name} was {rng.choice(words.SAD)} and could not go home.",
            ]
        ),
        meeting(rng, s),
        speech(
            rng, rng.choice([f"Come with me, {h.name}!", f"My house is {s.hiding}.", f"Let us wait {s.hiding}."]), f
        ),
        speech(rng, rng.choice([f"Thank you, {f.name}!", f"{f.name}, you are kind.", f"I will come, {f.name}."]), h),
        rng.choice(
            [
                f"They waited {s.hiding} and ate {s.food}.",
                f"At home, {f.name} made {s.food} for {h.him}.",
                f"{h.name} and {f.name} talked about {words.HOBBIES[s.hobby]}.",
            ]
        ),
        rng.choice(
            [
                f"At last the {weather} left {s.place}.",
                f"When the {weather} stopped, they {rng.choice(words.MOVES)} {s.home}.",
                f"After the {weather}, {h.name} found a {s.thing} {s.hiding}.",
            ]
        ),
    ]


def found_thing(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    return [
        f"{when(s, rng)} {h.name} found {article(s.color)} {s.thing} {s.hiding}.",
        speech(
            rng, rng.choice([f"Whose {s.thing} is this?", f"How {s.color} it is!", f"Who lost this {s.treasure}?"]), h
        ),
        rng.choice(
            [
                f"{h.he.capitalize()} asked everyone {s.home}.",
                f"{h.name} wanted the {s.thing}, but it was not {h.his} {s.color} one.",
                f"{h.he.capitalize()} {rng.choice(words.MOVES)} from house to house.",
            ]
        ),
        meeting(rng, s),
        speech(rng, rng.choice([f"That is my {s.treasure}!", f"I lost my {s.thing}.", f"Thank you, {h.name}!"]), f),
        rng.choice(
            [
                f"{h.name} gave it back at once.",
                f"{h.name} gave {f.him} the {s.thing} with a smile.",
                f"{f.name} was {rng.choice(words.HAPPY)} to have the {s.thing}.",
            ]
        ),
        rng.choice(
            [
                f"{f.name} made {s.food} for {h.him}.",
                f"They played with the {s.thing} all {s.time}.",
                f"Then they went {words.HOBBIES[s.hobby]} together.",
            ]
        ),
    ]


def ending(rng: random.Random, s: Scene) -> list[str]:
    h, f = s.hero, s.friend
    happy = rng.choice(words.HAPPY)
    first = rng.choice(
        [
            f"{h.name} was {happy} and thanked {f.name}.",
            f"{h.name} and {f.name} were {happy}.",
            f"{speech(rng, rng.choice([f'Thank you, {f.name}!', f'{f.name}, you are my friend.']), h)}",
            f"{h.he.capitalize()} felt {happy} all {s.time}.",
        ]
    )
    lesson = rng.choice(words.LESSONS)
    second = rng.choice(
        [
            f"Since then, {h.name} and {f.name} are {rng.choice(['best', 'good', 'true'])} friends.",
            f"{h.name} learned that {lesson}.",
            f"{h.name} and {f.name} know that {lesson}.",
            f"{h.name} went home {happy} and dreamed of {s.food}.",
            f"And every {s.time} they went {words.HOBBIES[s.hobby]} {s.home}.",
        ]
    )
    return [first, second]


PLOTS: tuple[Callable[[random.Random, Scene], list[str]], ...] = (
    lost_thing,
    learn_skill,
    share_food,
    storm,
    found_thing,
)


def story(rng: random.Random) -> str:
    """One story as a single line of text."""
    s = scene(rng)
    return " ".join([*opening(rng, s), *rng.choice(PLOTS)(rng, s), *ending(rng, s)])
