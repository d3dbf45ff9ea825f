import { describe, expect, test } from 'bun:test'
import { found, ordinaryTexts, prepared, touchedShare } from './evaluate'

const inspect = prepared('profanity')
const rudeIn = async (text: string) => (await found(inspect, text)).map(({ start, end }) => text.slice(start, end))

/** Harmless words that contain a rude word, or are rude in another language. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  en: [
    'How far is Fucking, Austria from Dildo, Newfoundland, and is Twatt, Orkney, on the way?',
    'We took the cable car up the Wank, then drove to the town of Bastardo',
    'The jackass penguin breeds in Namibia; a jackass is a male donkey',
    'The bitch whelped six puppies; our champion bitch was bred in May',
    'A bastard file, a bastard sword and William the Bastard',
    'The prick of a needle, a prick of conscience and a faggot of sticks',
    'He smoked a fag outside, and a king rode on an ass',
    'Assess the assets, then analyse the analogue signal of the canal',
    'Trafficked goods, a feckless class of assassins, assonance in Assyrian verse',
    'Cumin and cumquat from Cumbria, by E. E. Cummings, summa cum laude',
    'Flame retardant paint; ignition timing can retard the spark',
    'Scunthorpe, Essex, Fukushima, Dickens, cockpit, cuckoo, Moby Dick, snigger',
    'Prick the potatoes all over with a fork; a skin prick test',
    'The booby trap in the pussy willow, a chink in the armour, a shiitake soup',
    'A bed-cum-sitting room with a bastardized wankel engine',
    'Galaxy A55, convert movie.srt to movie.ass, self.ckpt, buf_ck, S.T. and A/S',
    'Dikshit, Takeshita, Cummings, Wankhede, Niger, Nigeria, Bitche, Twatt, Alan Cumming and Enrique "Kike" Hernandez',
    'Ass. Prof. and ass. manager; colours #b00b5a and #a55e55, a55e5b00-b00b-4a55',
    'Uranus, anal fissure, penis, vagina and rape are words of medicine and the law',
  ],
  es: [
    'Analiza los datos y haz un análisis de la competencia',
    'Cumple los plazos y asegura el asunto; es analfabeto y analista',
    'El canal artesanal, la entraña y el pañal; retardar la entrega',
    'La porra del partido es de un euro y el que acierta gana',
  ],
  pt: [
    'Analise o contrato e faça uma análise dos custos',
    'Cumprimentei o assessor: é preciso cumprir o prazo e assinar',
    'O Planalto e o Pantanal; acarretar atrasos',
  ],
  fr: [
    'Analyse la situation : les annales, l’artisanal et le fanal',
    'Le train a du retard et les retards sont de plus en plus longs',
    'Assommer, assouplir, assortir : il faut que tu t’asseyes',
    'Fagoter, du fagot, une pissaladière et du pissenlit',
  ],
  it: [
    'Analizza il bilancio e fai un’analisi di mercato',
    'Fu un grande successo',
    'Assegno, faggio, fagioli e fagiano',
  ],
  de: [
    'Eine Marktanalyse für den Videokanal, analysiere die Kanäle',
    'Der Hund lief bellend auf die Straße',
    'Fackel, Zwölfeck, Schinken, Löffelchen, Pazifistin, wankelmütig, fick-Beispiel',
    'Ich habe ein Abo und das Ass ist die höchste Karte im Spiel',
    'Die dicke Beschwerde über campinggerechte Assoziationen und Analphabeten',
  ],
  nl: [
    'Doe een marktanalyse voor een videokanaal',
    'De kikker in het kikkerbad; het is ten algemenen nutte van de mens',
    'De analist assorteert in de analyse van de bisschopssynode',
  ],
  pl: ['Przeanalizuj umowę i zrób analizę rynku', 'Analiza kosztów, kanalizacja, cumować, fagas, fuksja, machinka'],
  tr: [
    'Bu metni bir cümlede özetle ve pazarı analiz et',
    'Video kanalı için logo; cumayı kastettim, cümle',
    'Bu bir kut ve çok güzel',
  ],
  sv: [
    'Det är slut på mjölk och beslutet är fattat till slut',
    'Facket och fackföreningen; hon fick en prick på kartan och en fuktig dag',
    'Fodret: foder till hästar är det som vi har',
  ],
  da: ['Hvilket fag er det, som du har på skolen?', 'Beslutning, slutning, skikkelse; kikke på et kikkertsigte'],
  no: ['Sluttresultatet er at fagforeningen har fag på skolen', 'Han kikket og slutt er det med avløpssystemet'],
  ca: ['El tren porta retard i els retards són de més', 'Anàlisi de la pissarra, assolir i abastar'],
  ro: ['Cum se face asta și cum pot să fac un rezumat?'],
  hr: ['Bio je tamo dva puta i pod kut od devedeset stupnjeva je'],
  hu: ['Az a kút mély, de a kút vize nem az'],
  la: ['Dicunt et faciunt, cum grano salis'],
  ja: ['Kore wo shite kudasai', 'がまんこそ大事だ'],
  vi: ['Bích Ngọc và Phúc là bạn của tôi', 'Cụm máy chủ này là của tôi và không có trong báo cáo'],
}

describe('plain words', () => {
  test.each(Object.entries(PLAIN))('of %s pass', async (_, texts) => {
    for (const text of texts) expect({ text, rude: await rudeIn(text) }).toEqual({ text, rude: [] })
  })

  test('pass in all everyday texts of the training data', async () => {
    const texts = ordinaryTexts()
    expect(texts.length).toBeGreaterThan(10_000)
    expect(new Set(texts.map(({ language }) => language)).size).toBeGreaterThanOrEqual(15)
    expect(await touchedShare(inspect, texts)).toBe(0)
  })
})

/** Texts by how the rude word is written; the whole text is rude. */
const RUDE: Readonly<Record<string, readonly string[]>> = {
  plainly: `
    fuck shit bitch cunt asshole arse bastard nigger faggot slut whore retard twat wanker prick turd dildo blowjob
    gangbang jizz kike tranny chink cuck pussy bollocks boobs cocksucker dickhead nigga ass fag cum fisting felching
  `
    .trim()
    .split(/\s+/),
  'with endings': `
    fucking fucked fuckers shitty shitting bitches bitchy cunts assholes bastards pissed pissing sluts slutty whores
    retarded wanking faggots niggas cumming
  `
    .trim()
    .split(/\s+/),
  'in longer words': `
    motherfucker clusterfuck absofuckinglutely bullshit bullshitting shitshow dumbass sonofabitch jackasses dipshit
    cumshot twatwaffle fuckwit arsehole shithead
  `
    .trim()
    .split(/\s+/),
  'with figures for letters': `
    f4ck f@ck fvck sh1t 5h1t $hit sh!t b1tch b!tch a$$ a$$hole @sshole a55hole wh0re b4stard n1gger fa99ot r3tarded d1ldo
    pu$$y b00bs tw4t m0th3rfuck3r
  `
    .trim()
    .split(/\s+/),
  'with letters repeated': 'fuuuuck FUUCK!!! ASS!!! shiiiit biiitch whoooore asssshole cuuunt sluuut'.split(' '),
  'with letters left out': 'f*ck f**k f#ck f-ck sh*t s**t b*tch c*nt a**hole n*gger fcking'.split(' '),
  'letter by letter': ['f u c k', 'F.U.C.K', 'f-u-c-k', 's h i t', 'b i t c h', 'n_i_g_g_e_r', 'a s s h o l e'],
  'in look-alikes': ['fuсk', 'f\u200buck', 'ｆｕｃｋ', '𝐟𝐮𝐜𝐤', 'shіt'],
  'in several words': ['fuck you', 'son of a bitch', 'suck my dick', 'blow job', 'jerk off', 'fuk you'],
}

describe('rude words', () => {
  test.each(Object.entries(RUDE))('%s are found, alone and in a sentence', async (_, words) => {
    for (const word of words) {
      const sentence = `You said "${word}" to me, ${word}2, ${word}.`
      expect({ word, rude: (await rudeIn(word)).length }).toEqual({ word, rude: 1 })
      expect({ word, rude: (await rudeIn(sentence)).length >= (word.length > 3 ? 3 : 2) }).toEqual({ word, rude: true })
    }
  })

  test.each([
    ['de', 'Du bist ein Arschloch, verpiss dich', ['Arschloch', 'verpiss dich']],
    ['fr', 'Quelle merde, connard', ['merde', 'connard']],
    ['es', 'Esto es una mierda, puta', ['mierda', 'puta']],
    ['pt', 'Vai foder com a porra do caralho', ['foder', 'porra', 'caralho']],
    ['it', 'Che cazzo vuoi, stronzo', ['cazzo', 'stronzo']],
    ['nl', 'Wat een kut dag is dat, klootzak', ['kut', 'klootzak']],
    ['pl', 'Kurwa, spierdalaj', ['Kurwa', 'spierdalaj']],
    ['no', 'Faen ta deg, din jævla hestkuk', ['Faen', 'jævla', 'hestkuk']],
    ['fi', 'Perkele, haista vittu', ['Perkele', 'vittu']],
    ['sv', 'Den jävla horunge som är här', ['jävla', 'horunge']],
    ['ru', 'Иди нахуй, мудак', ['нахуй', 'мудак']],
    ['tr', 'Siktir git, orospu', ['Siktir git', 'orospu']],
    ['hi', 'तू चूतिया है', ['चूतिया']],
    ['zh', '操你妈，傻逼', ['操你妈', '傻逼']],
    ['ja', 'このクソ野郎、おまんこ', ['クソ野郎', 'まんこ']],
    ['ko', '씨발 뭐야', ['씨발']],
  ])('of %s are found', async (_, text, rude) => {
    expect(await rudeIn(text)).toEqual(rude)
  })

  test.each([
    ['fucking Austria lost again', ['fucking']],
    ['the bastard was drunk, that bitch is crazy', ['bastard', 'bitch']],
    ['you jackass of the village, what a prick of a boss', ['jackass', 'prick']],
    ['You slut, he is a fag and such a retard', ['slut', 'fag', 'retard']],
    ['Du är en sådan bitch, slut på det', ['bitch']],
    ['Mon retard est le pire, et toi tu es un asshole', ['asshole']],
  ])('are told from plain ones by the words around: %s', async (text, rude) => {
    expect(await rudeIn(text)).toEqual(rude)
  })

  test('are found whole, including the word around a rude stem', async () => {
    expect(await rudeIn('a clusterfucked 🐈 motherfuckers’ b1tch! day')).toEqual([
      'clusterfucked',
      'motherfuckers',
      'b1tch',
    ])
  })
})

test('rude letters inside keys and data are ignored', async () => {
  expect(await rudeIn(`${'q8Zr2Lm5'.repeat(20)}fuck${'7Hn3Vx9w'.repeat(20)}`)).toEqual([])
  expect(await rudeIn('fuck'.repeat(40))).not.toEqual([])
})
