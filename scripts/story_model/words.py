"""The words that stories are made of. Few enough that most of them become one piece of a 512-piece vocabulary."""

GIRLS = ["Mia", "Lily", "Anna", "Zoe", "Ella", "Ruby", "Nora", "Ivy", "Emma", "Lucy"]
BOYS = ["Tom", "Ben", "Max", "Leo", "Sam", "Finn", "Tim", "Jack", "Oscar", "Noah"]
ANIMALS = ["fox", "bear", "rabbit", "mouse", "duck", "owl", "cat", "dog", "frog", "turtle", "squirrel", "hedgehog"]
CHILDREN = {"she": "girl", "he": "boy"}
CHARACTERS = [
    "little",
    "small",
    "kind",
    "brave",
    "shy",
    "clever",
    "quiet",
    "curious",
    "funny",
    "gentle",
    "young",
    "cheerful",
]
PLACES = {
    "the forest": "in",
    "the garden": "in",
    "the village": "in",
    "the park": "in",
    "the valley": "in",
    "the farm": "on",
    "the hill": "on",
    "the beach": "on",
    "the river": "by",
    "the lake": "by",
    "the old mill": "near",
    "the tall tree": "under",
}
HOBBIES = {
    "sing": "singing",
    "dance": "dancing",
    "paint": "painting",
    "read": "reading",
    "climb": "climbing",
    "swim": "swimming",
    "cook": "cooking",
    "run": "running",
    "draw": "drawing",
    "build": "building",
}
DAYS = ["sunny", "rainy", "windy", "cold", "warm", "quiet", "bright", "cloudy", "snowy", "foggy"]
TIMES = ["morning", "day", "afternoon", "evening"]
THINGS = [
    "ball",
    "kite",
    "hat",
    "boat",
    "book",
    "bell",
    "lamp",
    "scarf",
    "drum",
    "key",
    "doll",
    "cup",
    "basket",
    "stone",
    "box",
]
COLORS = ["red", "blue", "green", "yellow", "white", "brown", "purple", "golden", "orange", "silver"]
FOODS = ["bread", "soup", "cake", "apples", "honey", "cheese", "berries", "nuts", "cookies", "pears"]
SPOTS = {
    "bush": "behind",
    "bridge": "under",
    "rock": "behind",
    "bench": "under",
    "barn": "behind",
    "fence": "near",
    "well": "near",
    "log": "inside",
    "cave": "inside",
    "tree": "behind",
}
SAD = ["sad", "worried", "afraid", "tired", "upset", "lonely"]
HAPPY = ["happy", "proud", "glad", "thankful", "excited", "calm"]
LESSONS = [
    "helping is good",
    "sharing is fun",
    "asking is brave",
    "trying helps",
    "small friends matter",
    "being kind is easy",
    "two are better than one",
    "true friends come",
]
MOVES = ["ran", "walked", "hurried", "jumped", "went", "skipped"]
SAID = ["said", "called", "cried", "answered", "whispered", "shouted"]
