import { reading } from './reading'
import { remember, unitsOf } from './runs'

/** The words of a text and their prefixes, without a string for each of them. */
type WordIndex = {
  /** `size` is the number of different words, counted up to 32. */
  words: { readonly size: number; has(word: Hashed): boolean }
  /** Prefixes of `SHORTEST` to `LONGEST` letters. */
  beginnings: { has(stem: Hashed): boolean }
}

/** A word to look up and its hash, which is computed once for all texts. */
type Hashed = { text: string; hash: number }

const SHORTEST = 4

const LONGEST = 16

const MAX_COUNTED = 32

const BASIS = 0x811c9dc5

const PRIME = 0x01000193

const CELLS = 1 << 16

const isPart = unitsOf(/[\p{L}\p{M}\p{N}]/u)

const mix = (sum: number, code: number): number => Math.imul(sum ^ code, PRIME)

const hashOf = (word: string): number => {
  let sum = BASIS
  for (let at = 0; at < word.length; at++) sum = mix(sum, word.charCodeAt(at))
  return sum
}

const cellOf = (sum: number): number => (sum ^ (sum >>> 16)) & (CELLS - 1)

/** Bit set of hashes. Shared by all texts, so an index is valid until the next text is read. */
const cells = new Int32Array(CELLS / 32)

const hashed = (text: string): Hashed => ({ text, hash: hashOf(text) })

/** Words for common topics: word prefixes, in lower case without accents. */
const TOPICS: Readonly<Record<string, string>> = {
  politics:
    'politic politik election elect vote voter ballot parliament congress senate senator president minister government campaign democrat republican party-line referendum candidate coalition policy-maker wahl wahlen bundestag kanzler partei regierung gouvernement gobierno elecciones partido governo eleicao выборы политик президент правительств партия 政治 选举 選挙 政府 总统 정치 선거',
  religion:
    'religio religion church mosque synagogue temple bible koran quran torah prayer pray faith god jesus allah buddha hindu islam muslim christian jewish sermon priest imam rabbi kirche glaube gebet eglise priere iglesia oracion церковь молитв религи 宗教 教会 祈祷 종교',
  medical:
    'medic medicine doctor diagnos symptom disease illness treatment therapy prescri dosage pill tablet antibiotic vaccine surgery cancer diabetes fever headache pain infection hospital patient blood-pressure arzt krankheit medikament symptome behandlung schmerz medecin maladie traitement symptome enfermedad medico tratamiento dolor болезн врач лекарств симптом 医疗 疾病 症状 药 病気 薬 의사 질병',
  legal:
    'legal law lawyer attorney lawsuit sue court judge contract liability statute plaintiff defendant litigation tenant-right custody divorce anwalt gericht klage recht gesetz urteil avocat tribunal proces loi abogado demanda juicio ley адвокат суд иск закон 法律 律师 诉讼 弁護士 裁判 변호사 소송',
  finance:
    'financ invest stock share bond portfolio dividend broker trading trader fund etf mortgage loan interest-rate pension hedge market-cap aktie aktien rendite anlage kredit zinsen bourse placement epargne inversion acciones bolsa prestamo акци инвест кредит облигац 投资 股票 基金 贷款 株式 投資 주식 투자',
  crypto:
    'crypto bitcoin ethereum blockchain token-sale nft stablecoin altcoin wallet-seed defi mining-rig krypto крипто 比特币 加密货币 暗号資産 비트코인',
  gambling:
    'gambl casino bet betting poker roulette slot-machine lottery jackpot bookmaker odds wager blackjack glucksspiel wette wetten spielbank pari jeux-dargent apuesta loteria азартн казино ставк 赌博 赌场 ギャンブル 도박',
  weapons:
    'weapon gun rifle pistol ammunition firearm grenade explosive bomb missile knife-fight waffe pistole gewehr munition sprengstoff arme fusil pistolet arma pistola оруж пистолет винтовк 武器 枪 銃 무기',
  drugs:
    'drug cocaine heroin cannabis marijuana weed meth lsd ecstasy opioid fentanyl overdose droge kokain drogue cocaina droga наркотик кокаин 毒品 大麻 麻薬 마약',
  alcohol:
    'alcohol beer wine whisky whiskey vodka gin cocktail drunk brewery distill bier wein alkohol schnaps biere vin alcool cerveza vino алкогол пиво водк вино 酒精 啤酒 ビール 술',
  sex: 'sex sexual porn erotic nude naked orgasm fetish sexuell nackt erotik sexuel sexo desnud секс порно 性 色情 セックス 섹스',
  violence:
    'violen murder kill stab shoot torture massacre assault gewalt mord toten meurtre tuer violencia asesin насили убий 暴力 杀 殺人 폭력',
  sports:
    'sport football soccer basketball tennis olympic league goal match player coach tournament team-mate championship fussball bundesliga spiel liga futbol partido equipe спорт футбол матч 体育 足球 スポーツ 축구',
  travel:
    'travel trip flight hotel booking vacation holiday tourist itinerary visa passport airline reise urlaub flug voyage vacances vuelo viaje vacaciones путешеств отпуск рейс 旅行 航班 酒店 ホテル 여행',
  food: 'food recipe cook bake ingredient meal dinner lunch breakfast restaurant vegan flour sauce rezept kochen backen essen recette cuisine receta cocinar comida рецепт готов еда 食谱 做饭 料理 レシピ 요리',
  programming:
    'programm code coding function compile debug variable python javascript typescript java rust sql api git repository software developer bug stack-trace algorithm programmier logiciel programacion программ код 编程 代码 プログラム 프로그래밍',
  weather:
    'weather forecast rain snow temperature storm sunny wind wetter regen schnee meteo pluie clima lluvia погод дожд 天气 天気 날씨',
  shopping:
    'order refund delivery shipping invoice price discount cart checkout return warranty parcel bestellung lieferung ruckgabe rechnung commande livraison remboursement pedido envio reembolso заказ доставк возврат 订单 退款 注文 配送 주문 환불',
}

/** Other names of these topics. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  politics: 'political election elections politik government',
  religion: 'religious faith',
  medical: 'health medicine medizin doctor',
  legal: 'law lawyer recht',
  finance: 'financial investment investing investments stocks banking',
  crypto: 'cryptocurrency cryptocurrencies bitcoin',
  gambling: 'betting casino',
  weapons: 'guns weapon firearms',
  drugs: 'drug narcotics',
  alcohol: 'beer wine',
  sex: 'sexual sexuality pornography adult',
  violence: 'violent',
  sports: 'sport football',
  travel: 'tourism holidays',
  food: 'cooking recipes cuisine',
  programming: 'coding code software',
  shopping: 'orders refunds delivery returns',
}

/** The topic by each of its other names. */
const TOPIC_BY_ALIAS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OTHER_NAMES).flatMap(([topic, names]) => names.split(' ').map((name) => [name, topic])),
)

/** A topic to search for: the words of its name, and common words for it. */
export type Topic = { fromName: readonly Stem[]; synonyms: readonly Stem[] }
/** How one word is found: anywhere in the text, as a whole word or its plural, or as a word prefix. */
type Stem = { anywhere: string } | { words: readonly Hashed[] } | { beginning: Hashed }

/** The words of a text and their prefixes, with the normalised text itself. */
export type TopicWords = WordIndex & { plain: string }

const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** Scripts without blanks between words. */
export const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** Words of a topic's name that carry no subject. */
const GENERAL = new Set(
  `a about advice all and any anything are as at be by can content conversation discussion discussions do for from general
   help how i in information is it matters me my news not of on opinions or our question questions related stuff talk the
   their things tips to topic topics us we what with you your`.split(/\s+/),
)
const GENERAL_HASHES = new Set([...GENERAL].map(hashOf))
/** In a text with at most this many words, one word of a topic makes it the subject. */
const SHORT = 14

/** The topic of a name such as `politics` or `our refund policy`. Null when the name has no word. */
export function compileTopic(name: string): Topic | null {
  const words = reading(name).text.match(WORD) ?? []
  if (!words.length) return null
  const meant = words.filter((word) => !GENERAL.has(word))
  const fromName = (meant.length ? meant : words).map(stemOf).map(lookedFor)
  const names = new Set(
    meant.flatMap((word) => [word, TOPIC_BY_ALIAS[word] ?? word]).filter((one) => Object.hasOwn(TOPICS, one)),
  )
  return { fromName, synonyms: [...names].flatMap((one) => TOPICS[one]!.split(' ').map(lookedFor)) }
}

/** The words of a text, for topic checks. Valid until the next text is read. */
export const topicWordsOf = remember((source: string): TopicWords => {
  const { text: plain } = reading(source)
  return { plain, ...wordIndexOf(plain, GENERAL_HASHES) }
})

/** Removes plural and adjective endings, so that `election` finds `elections`. */
const stemOf = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|y|e)$/, '') : word)

/** Whether a text is about a topic: it contains the full name, two known words, or one in a short text. */
export function isAbout({ fromName, synonyms }: Topic, text: TopicWords): boolean {
  if (fromName.every((stem) => hasStem(stem, text))) return true
  const hits = synonyms.filter((stem) => hasStem(stem, text)).length
  return hits >= 2 || (hits === 1 && text.words.size <= SHORT)
}

/** Whether a text has any word of a topic. */
export const touches = ({ fromName, synonyms }: Topic, text: TopicWords): boolean =>
  [...fromName, ...synonyms].some((stem) => hasStem(stem, text))

/** The number of a topic's words in a text. */
export const hitsOf = ({ fromName, synonyms }: Topic, text: TopicWords): number =>
  [...fromName, ...synonyms].filter((stem) => hasStem(stem, text)).length

/** Words of four letters and more are found by prefix, shorter ones only exactly. */
function lookedFor(stem: string): Stem {
  if (SPACELESS.test(stem)) return { anywhere: stem }
  if (stem.includes('-')) return { anywhere: stem.replace('-', ' ') }
  return stem.length < SHORTEST ? { words: [hashed(stem), hashed(`${stem}s`)] } : { beginning: hashed(stem) }
}

function hasStem(stem: Stem, { plain, words, beginnings }: TopicWords): boolean {
  if ('beginning' in stem) return beginnings.has(stem.beginning)
  return 'words' in stem ? stem.words.some((word) => words.has(word)) : plain.includes(stem.anywhere)
}

function mark(sum: number): void {
  const cell = cellOf(sum)
  cells[cell >>> 5]! |= 1 << (cell & 31)
}

/** Indexes a text in lower case. Words whose hash is in `general` count as absent. Linear. */
function wordIndexOf(text: string, general: ReadonlySet<number>): WordIndex {
  cells.fill(0)
  const counted = new Set<number>()
  for (let at = 0; at < text.length; ) {
    if (!isPart(text.charCodeAt(at))) {
      at++
      continue
    }
    let sum = BASIS
    const start = at
    for (; at < text.length && isPart(text.charCodeAt(at)); at++) {
      sum = mix(sum, text.charCodeAt(at))
      const length = at + 1 - start
      if (length >= SHORTEST && length <= LONGEST) mark(sum)
    }
    mark(sum)
    if (counted.size < MAX_COUNTED && !general.has(sum)) counted.add(sum)
  }
  // Hashes can collide, so a word that seems to be present is searched in the text itself.
  const stands = ({ text: stem, hash }: Hashed, isWhole: boolean): boolean => {
    const cell = cellOf(hash)
    if (((cells[cell >>> 5]! >>> (cell & 31)) & 1) !== 1) return false
    for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
      if (at > 0 && isPart(text.charCodeAt(at - 1))) continue
      let end = at + stem.length
      while (end < text.length && isPart(text.charCodeAt(end))) end++
      if (isWhole ? end === at + stem.length : !general.has(hashOf(text.slice(at, end)))) return true
    }
    return false
  }
  return {
    words: { size: counted.size, has: (word) => !general.has(word.hash) && stands(word, true) },
    beginnings: { has: (stem) => stem.text.length >= SHORTEST && stem.text.length <= LONGEST && stands(stem, false) },
  }
}
