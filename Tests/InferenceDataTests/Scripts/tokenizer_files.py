"""Makes Fixtures/Tokenizers with the package tokenizers (0.23): python3 tokenizer_files.py. Small tokenizers are trained on
text that is made here, and each is asked for the numbers of the same texts."""
import json
import os
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures", "Tokenizers")
os.makedirs(folder, exist_ok=True)
chance = random.Random(20261121)

SYLLABLES = ["ka", "lo", "mi", "ten", "sur", "é", "ñe", "ar", "ba", "qui", "st", "ing", "er", "o", "u", "ß", "ão", "the", "re"]
OTHERS = ["你好", "世界", "東京", "日本語", "서울", "한국", "привет", "мир", "שלום", "مرحبا", "สวัสดี", "αβγ", "Σίσυφος", "🙂", "👩‍🚀", "🇩🇪"]


def word():
    if chance.random() < 0.1:
        return chance.choice(OTHERS)
    made = "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(1, 4)))
    return made.capitalize() if chance.random() < 0.2 else made


def sentence():
    words = [word() if chance.random() < 0.9 else str(chance.randint(0, 9999)) for _ in range(chance.randint(2, 14))]
    text = " ".join(words)
    return text.replace(" ", ", ", 1) + chance.choice([".", "!", "?", " ...", ""])


corpus = [sentence() for _ in range(4000)] + ["I'm sure you're here, they'll say it's what we've got; he'd know."] * 50

TEXTS = [
    "", " ", "   ", "a", "The quick brown fox", "Crème brûlée, ÀÉÎÕÜ ñ ß Ǆ ŉ", "Cre\u0300me bru\u0302le\u0301e",
    "你好世界 東京2026年 한국어 서울", "日本語のテキスト、そして漢字。", "\uf900\ufa0e\U0002f800 compat", "привет мир שלום مرحبا بالعالم สวัสดี",
    "🙂👍🏽👩‍🚀🇩🇪 emoji!", "a\u0000b\u0001c\u200bd\ufeffe\u00adf\u007fg\u0085h", "tab\there\r\nnew\nline\u2028sep\u00a0nbsp\u3000wide",
    "x" * 300, "lo" * 150, "the" * 33 + " " + "a" * 100 + " " + "a" * 101,
    "I'm you're we'll they've he'd it's can't 'tis 's 'S I'M", "don''t '' ' 're're", "  leading   and  trailing   ", " \n\n a \n b\t\t\tc  \n",
    "1234567 3.14159 1,000,000 ½ ² Ⅷ ٣٤ १२", "a_b-c/d\\e|f~g`h^i$j%k&l*m(n)o[p]q{r}s<t>u=v+w@x#y\"z",
    "[MASK] in [CLS] the [SEP] text", "the[MASK]the", "[ MASK ] [mask]", "<mask> and <s> or </s><pad>", "the <mask>, x<mask>y   <mask>   z",
    "word newtoken NEWTOKEN newtokens anewtoken newtoken", "İstanbul IŞIK ıi ΣΑΣ ﬁ ﬂ ① ㎏ 𝐀𝐁 Å Ω K", "\ue000\U000f0000\U0010ffff\u0378 odd",
    "e\u0301\u0301\u0323 a\u0308\u0304", "\u1100\u1161\u11a8 각", "....!!!???", "—–…«»„“”‚‘’", "\ufffd\ufffe", "\u0644\u0627 \u0640\u064b",
    "<|startoftext|>hello<|endoftext|>", "http://example.org/a?b=c&d=e#f user@example.org", "CamelCaseWordsAndABBREVs",
    "\u0915\u094d\u0937\u093f \u0ba8\u0bbf", "A" + "\u0300" * 40, "\t", "\n", "'", "\u0301",
]
ALPHABET = [t for text in TEXTS for t in text if len(text) < 120] + [" "] * 60 + list("etaoinsr") * 12
TEXTS += ["".join(chance.choice(ALPHABET) for _ in range(chance.randint(1, 24))) for _ in range(60)]
TEXTS += [sentence() for _ in range(10)]


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def word_piece(lowercase, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", **options))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return train(tokenizer, trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, limit_alphabet=160))


bert = word_piece(True)
bert.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
    special_tokens=[("[CLS]", bert.token_to_id("[CLS]")), ("[SEP]", bert.token_to_id("[SEP]"))])
bert.enable_truncation(48)
bert.enable_padding(pad_id=0, pad_token="[PAD]", length=48)

cased = word_piece(False)
cased.post_processor = processors.BertProcessing(("[SEP]", cased.token_to_id("[SEP]")), ("[CLS]", cased.token_to_id("[CLS]")))
cased.add_tokens([AddedToken("newtoken", single_word=True, normalized=True), AddedToken("ñe", normalized=True)])
cased.enable_truncation(20, direction="left")

roberta = Tokenizer(models.BPE())
roberta.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
roberta.decoder = decoders.ByteLevel()
train(roberta, trainers.BpeTrainer(
    vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
roberta.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
roberta.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)

prefixed = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, continuing_subword_prefix="@@"))
prefixed.normalizer = normalizers.Sequence(
    [normalizers.NFKC(), normalizers.StripAccents(), normalizers.Replace("``", '"'), normalizers.Strip(), normalizers.Lowercase()])
prefixed.pre_tokenizer = pre_tokenizers.Sequence(
    [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")])
train(prefixed, trainers.BpeTrainer(
    vocab_size=450, special_tokens=["<unk>", "<pad>"], continuing_subword_prefix="@@", limit_alphabet=120))

clip = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
clip.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
clip.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.Split(
        Regex(r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
        behavior="removed", invert=True),
    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
train(clip, trainers.BpeTrainer(
    vocab_size=900, end_of_word_suffix="</w>", special_tokens=["<|startoftext|>", "<|endoftext|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
clip.post_processor = processors.RobertaProcessing(
    ("<|endoftext|>", clip.token_to_id("<|endoftext|>")), ("<|startoftext|>", clip.token_to_id("<|startoftext|>")),
    trim_offsets=False, add_prefix_space=False)

later = Tokenizer(models.BPE(ignore_merges=True))
later.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.Split(
        Regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
        behavior="isolated"),
    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
train(later, trainers.BpeTrainer(
    vocab_size=500, special_tokens=["<|begin|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
later.post_processor = processors.Sequence([
    processors.ByteLevel(trim_offsets=False),
    processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])])

levels = Tokenizer(models.WordLevel(unk_token="[UNK]"))
levels.normalizer = normalizers.NFD()
levels.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
train(levels, trainers.WordLevelTrainer(vocab_size=60, special_tokens=["[UNK]"]))

expected = {"texts": TEXTS, "tokenizers": {}}
made = {"bert": bert, "cased": cased, "roberta": roberta, "prefixed": prefixed, "clip": clip, "later": later, "levels": levels}
for name, tokenizer in made.items():
    tokenizer.save(os.path.join(folder, f"{name}.json"), pretty=False)
    rows = []
    for text in TEXTS:
        encoding = tokenizer.encode(text)
        keep = [i for i, used in enumerate(encoding.attention_mask) if used]
        assert all(encoding.type_ids[i] == 0 for i in keep)
        rows.append([encoding.ids[i] for i in keep])
    expected["tokenizers"][name] = rows
with open(os.path.join(folder, "expected.json"), "w") as file:
    json.dump(expected, file, ensure_ascii=True, separators=(",", ":"))
