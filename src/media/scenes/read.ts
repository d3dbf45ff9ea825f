import { beginningOf } from '../../kernel/text'
import type { Color } from './model'
import { COLOR_WORDS, colorNamed, type Mood } from './palette'
import { type Subject, subjectsIn } from './subjects'

const stepsIn = (text: string): string[] =>
  /(?:->|→|=>)/.test(text)
    ? text
        .replace(/^[^:\n]{0,60}:\s*/, '')
        .split(/->|→|=>/)
        .map((step) =>
          step
            .trim()
            .replace(/^.*\b(?:diagram|flow ?chart|flow|process) (?:of|for|from|with)\s+/i, '')
            .replace(/[.\n].*$/s, '')
            .trim(),
        )
        .filter(Boolean)
        .slice(0, 6)
    : []

/** A short caption: the description without "draw me a picture of". */
export const captionOf = (prompt: string): string => {
  const bare = prompt
    .trim()
    .split(/[.\n]/)[0]!
    .replace(
      /^(?:please\s+)?(?:can you\s+)?(?:draw|make|create|generate|paint|design|show|render|illustrate|give)\s+(?:me\s+)?/i,
      '',
    )
    .replace(
      /^(?:an?|the)?\s*(?:image|picture|illustration|drawing|photo|photograph|painting|poster|logo|icon|banner)s?\s+(?:of|for|showing|with)\s+/i,
      '',
    )
    .trim()
  return beginningOf(bare, 120) || 'Picture'
}

/** Things that a text counts, "a", "two": the words after the number, up to a word that ends the phrase. */
const COUNTED =
  /\b(?:an?|one|two|three|four|five|six|several|some|many)\s+((?:[\p{L}][\p{L}'-]*\s+){0,4}?[\p{L}][\p{L}'-]*)(?=\s+(?:in|on|at|by|with|under|over|above|below|beside|behind|near|next|between|against|along|across|through|from|to|into|and|or|but|for|of|that|who|which|is|are|was|as|like|while|during|wearing|[\p{L}]{2,20}ing)\b|\s*[^\p{L}\s'-]|\s*$)(\s+of\s+(?!an?\b|the\b|one\b|two\b|three\b|some\b|many\b)[\p{L}][\p{L}'-]*)?/gu

/** Words for a picture, its form and its parts, which need no drawing of their own. */
const FORM =
  /\b(?:pictures?|images?|illustrations?|drawings?|photos?|photographs?|paintings?|portraits?|posters?|flyers?|covers?|banners?|cards?|invitations?|logos?|wordmarks?|emblems?|monograms?|icons?|favicons?|avatars?|badges?|stickers?|charts?|graphs?|diagrams?|flow ?charts?|patterns?|wallpapers?|textures?|tiles?|scenes?|views?|backgrounds?|styles?|sketch(?:es)?|render|designs?|compositions?|shapes?|forms?|colou?rs?|lines?|light|sky|day|night|morning|evening|sunset|sunrise|dawn|dusk|way|lot|bit|group|pair|couple|row|set|touch|hint|film|video|clip|animation|title|headline|slogan|words?|text|letters?|abstract|geometric|gradient|watercolou?r|blueprint|outline)\b/u

const MAX = 3

const LONGEST = 40

const SETTINGS = ['mountains', 'sea', 'desert', 'forest', 'city', 'meadow', 'space', 'snow', 'beach', 'deep'] as const
export type Setting = (typeof SETTINGS)[number]

type Layout = 'picture' | 'poster' | 'logo' | 'icon' | 'pattern' | 'chart' | 'diagram' | 'abstract'

/** The parts of a description that were understood. */
export type Reading = {
  layout: Layout
  subjects: Subject[]
  setting: Setting | null
  time: 'day' | 'night' | 'dusk'
  weather: 'rain' | 'snow' | null
  colors: Color[]
  mood: Mood | null
  /** Draws outlines only. */
  isOutlined: boolean
  isMinimal: boolean
  /** Text to write on the picture, the largest first. */
  lettering: string[]
  chart: ChartData | null
  steps: string[]
  /** Named things that cannot be drawn, in the words of the description. */
  unknown: string[]
  /** The description without its instructions, for a caption. */
  words: string
}

const SETTING_WORDS: Record<Setting, RegExp> = {
  deep: /\b(underwater|undersea|coral reef|deep sea|ocean floor|aquarium)\b/,
  beach: /\b(beach|shore|coast|island|tropical|seaside)\b/,
  sea: /\b(sea|ocean|lake|harbou?r|bay|river|waves?|water|sailing|pond)\b/,
  desert: /\b(desert|dunes?|sahara|oasis|canyon|pyramids?)\b/,
  snow: /\b(snow|snowy|winter|arctic|antarctic|ice|icy|north pole|ski|skiing)\b/,
  space: /\b(space|outer space|orbit|galaxy|cosmos|cosmic|nebula|universe|lunar|starship)\b/,
  forest: /\b(forest|woods|woodland|jungle|rainforest)\b/,
  mountains: /\b(mountains?|alps|alpine|peaks?|valley|hills?|himalayas?|fjord|volcano)\b/,
  city: /\b(city|skyline|street|downtown|urban|town|metropolis)\b/,
  meadow: /\b(meadow|field|garden|park|farm|countryside|grass|landscape|prairie|village|road)\b/,
}

/** Reads a description and its later changes. A later colour, time or style replaces an earlier one. */
export function readPrompt(prompt: string, changes: readonly string[], style: string | null): Reading {
  const all = [prompt, ...changes].map((text) => text.slice(0, 4_000))
  const [first, ...later] = all.map(readOne)
  const styled = style ? readOne(style) : null
  const reading = later.reduce(changed, first!)
  const mood = styled?.mood ?? reading.mood
  return {
    ...reading,
    // Uses the natural colour of a subject if the description gives none.
    subjects:
      mood || reading.colors.length
        ? reading.subjects
        : reading.subjects.map((one) => ({ ...one, color: one.color ?? one.motif.natural ?? null })),
    words: captionOf(all[0]!),
    ...(styled?.mood ? { mood: styled.mood } : {}),
    isOutlined: reading.isOutlined || (styled?.isOutlined ?? false),
    isMinimal: reading.isMinimal || (styled?.isMinimal ?? false),
    layout: layoutOf(reading, all.join(' ')),
  }
}

type One = Reading & { removes: Subject[]; says: { time: boolean } }

function readOne(text: string): One {
  const low = text.toLowerCase().normalize('NFKC')
  const lettering = letteringIn(text)
  const bare = lettering.reduce((rest, words) => rest.replace(words.toLowerCase(), ' '), low)
  const setting = SETTINGS_IN_ORDER.find((name) => SETTING_WORDS[name].test(bare)) ?? null
  // In a logo, the subjects in its name count too.
  const subjects = subjectsIn(/\b(logo|icon|emblem|badge|sticker)\b/.test(low) ? low : bare).filter(
    ({ motif }) => !(setting && SCENERY[setting]?.includes(motif.name)),
  )
  const chart = readChart(text)
  const taken = new Set(subjects.map(({ color }) => color))
  return {
    layout: 'picture',
    subjects,
    removes: [...bare.matchAll(/\b(?:remove|without|delete|no|drop) (?:the |any |all )?([a-z -]{3,30})/g)].flatMap(
      ([, what]) => subjectsIn(what!),
    ),
    setting,
    time: /\b(night|midnight|starry|moonlit|moonlight)\b/.test(bare)
      ? 'night'
      : /\b(sunset|dusk|dawn|sunrise|evening|twilight|golden hour)\b/.test(bare)
        ? 'dusk'
        : 'day',
    says: {
      time: /\b(night|midnight|starry|moonlit|sunset|dusk|dawn|sunrise|evening|day|daytime|noon|morning)\b/.test(bare),
    },
    weather: /\b(rain|rainy|storm|raining)\b/.test(bare)
      ? 'rain'
      : /\b(snowing|snowfall|snowy|blizzard|snow)\b/.test(bare)
        ? 'snow'
        : null,
    colors: colorsIn(bare).filter((color) => !taken.has(color)),
    mood: moodIn(bare),
    isOutlined: /\b(outline|line[- ]?art|sketch|drawing|line drawing|coloring|colouring|ink|etching|blueprint)\b/.test(
      bare,
    ),
    isMinimal: /\b(minimal|minimalist|minimalistic|simple|clean)\b/.test(bare),
    lettering,
    chart,
    steps: stepsIn(text),
    unknown: chart ? [] : unknownIn(bare),
    words: '',
  }
}

/** Subjects that a setting already contains. */
const SCENERY: Partial<Record<Setting, readonly string[]>> = {
  mountains: ['mountain'],
  snow: ['mountain', 'ice'],
  city: ['city'],
  sea: ['water-wave'],
  beach: ['water-wave'],
}

/** Specific settings come before general ones, because a beach is also by the sea. */
const SETTINGS_IN_ORDER = Object.keys(SETTING_WORDS) as Setting[]

/** Applies a change to the reading of a picture. */
function changed(before: One, change: One): One {
  const gone = new Set(change.removes.map(({ motif }) => motif))
  const remaining = before.subjects.filter(({ motif }) => !gone.has(motif))
  const added = change.subjects.filter(({ motif }) => !gone.has(motif) && !remaining.some((one) => one.motif === motif))
  const recolored = remaining.map(
    (one) => change.subjects.find(({ motif }) => motif === one.motif && !gone.has(motif)) ?? one,
  )
  // "Make it blue" applies to the subjects as well as to the picture.
  const plain = change.colors.length
    ? recolored.map((one) =>
        change.subjects.some(({ motif }) => motif === one.motif) ? one : { ...one, color: change.colors[0]! },
      )
    : recolored
  return {
    ...before,
    subjects: [...plain, ...added],
    setting: change.setting ?? before.setting,
    time: change.says.time ? change.time : before.time,
    weather: change.weather ?? before.weather,
    colors: change.colors.length ? change.colors : before.colors,
    mood: change.mood ?? before.mood,
    isOutlined: before.isOutlined || change.isOutlined,
    isMinimal: before.isMinimal || change.isMinimal,
    lettering: change.lettering.length ? change.lettering : before.lettering,
    chart: change.chart ?? before.chart,
    steps: change.steps.length ? change.steps : before.steps,
    unknown: [...new Set([...before.unknown, ...change.unknown])],
  }
}

function layoutOf({ chart, steps, subjects, setting, lettering }: Reading, text: string): Layout {
  const low = text.toLowerCase()
  if (chart) return 'chart'
  if (steps.length >= 2) return 'diagram'
  if (/\b(seamless|pattern|wallpaper|texture|tile|tiles)\b/.test(low)) return 'pattern'
  if (/\b(logo|wordmark|emblem|monogram)\b/.test(low)) return 'logo'
  if (/\b(icon|favicon|avatar|badge|sticker)\b/.test(low)) return 'icon'
  if (lettering.length || /\b(poster|flyer|cover|banner|card|invitation|headline|slogan|title)\b/.test(low))
    return 'poster'
  return subjects.length || setting ? 'picture' : 'abstract'
}

const COLORS = new RegExp(`\\b(${COLOR_WORDS.join('|')})\\b`, 'g')

const colorsIn = (text: string): Color[] => [
  ...new Set([
    ...[...text.matchAll(/#([0-9a-f]{6})\b/g)].map(([whole]) => whole as Color),
    ...[...text.matchAll(COLORS)]
      .filter(([word]) => !/black and white/.test(text) || !/black|white/.test(word))
      .map(([word]) => colorNamed(word)!),
  ]),
]

function moodIn(text: string): Mood | null {
  if (/\b(blueprint)\b/.test(text)) return 'blueprint'
  if (/\b(neon|cyberpunk|synthwave|vaporwave|glowing)\b/.test(text)) return 'neon'
  if (/\b(pastel|soft colou?rs|watercolou?r)\b/.test(text)) return 'pastel'
  if (/\b(retro|vintage|old-fashioned|70s|1970s|60s)\b/.test(text)) return 'retro'
  return /\b(monochrome|black and white|grayscale|greyscale)\b/.test(text) ? 'mono' : null
}

/** Things that a description names and this server cannot draw, in its own words. */
function unknownIn(text: string): string[] {
  const isKnown = (phrase: string) =>
    subjectsIn(phrase).length > 0 || Object.values(SETTING_WORDS).some((words) => words.test(phrase))
  const found = [...text.slice(0, 1_000).matchAll(COUNTED)].flatMap(([, thing = '', more = '']) => {
    const phrase = `${thing}${FORM.test(thing) ? '' : more}`
    const name = (FORM.test(thing) && more ? more.replace(/^\s+of\s+/, '') : phrase).trim()
    return FORM.test(name) || isKnown(name) || name.length > LONGEST ? [] : [name]
  })
  return [...new Set(found)].slice(0, MAX)
}

/** Text in quotes, or after words such as "titled". */
function letteringIn(text: string): string[] {
  const quoted = [...text.matchAll(/["“«]([^"”»\n]{1,120})["”»]|(?<![\p{L}])'([^'\n]{2,120})'(?![\p{L}])/gu)].map(
    ([, one, two]) => (one ?? two)!.trim(),
  )
  if (quoted.length) return quoted.filter(Boolean).slice(0, 3)
  const match =
    /\b(?:that says|saying|reading|with the (?:text|words?|title|headline)|titled|called|named|for)(?:\s*:)?\s+((?:[A-Z0-9][\p{L}\p{N}&'.-]*)(?:\s+(?:[A-Z0-9][\p{L}\p{N}&'.-]*|of|the|and|&|for|in|on)){0,6})/u.exec(
      text,
    )
  return match ? [match[1]!.replace(/(?<!\s)\s+(?:of|the|and|&|for|in|on)$/, '').replace(/[.,;:]$/, '')] : []
}

export type ChartData = {
  type: 'bar' | 'line' | 'pie'
  title: string
  unit: string
  rows: readonly { label: string; value: number }[]
}

const PAIR =
  /([\p{L}][\p{L}\p{N} '&/-]{0,30}?|\d{4}|Q[1-4])(?:\s*(?::|=|–|—|\bis\b|\bat\b|\bwith\b)\s*|\s+)([$€£]?)(-?\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)\s*(%|k\b|m\b|bn\b|million\b|€|\$|£)?/giu

/** The words that request a chart, before its first label. */
const FRAME = /^(?:.*\s)?(?:chart|graph|plot|infographic|pie|histogram|bars?)\s+(?:of|for|showing|about|with)\s+/i

/** The chart data that a text contains with a chart request, or null. */
function readChart(text: string): ChartData | null {
  const low = text.toLowerCase()
  if (!/\b(chart|graph|plot|diagram|histogram|infographic|pie|bars?)\b/.test(low)) return null
  const from = text.indexOf(':') + 1
  const rows: { label: string; value: number }[] = []
  let unit = ''
  for (const [, label, before, number, after] of text.slice(from).matchAll(PAIR)) {
    const value = Number(number!.replace(/[,_]/g, ''))
    const name = label!
      .trim()
      .replace(FRAME, '')
      .replace(/^(?:and|with|of|the)\s+/i, '')
    if (!name || !Number.isFinite(value) || rows.length === 12) continue
    unit ||= before || after || ''
    rows.push({ label: name, value })
  }
  if (rows.length < 2) return null
  const type = /\b(pie|donut|doughnut|share)\b/.test(low)
    ? 'pie'
    : /\b(line|trend|over time|area)\b/.test(low)
      ? 'line'
      : 'bar'
  return {
    type: rows.some(({ value }) => value < 0) && type === 'pie' ? 'bar' : type,
    title: titleOf(text),
    unit,
    rows,
  }
}

function titleOf(text: string): string {
  const quoted = /["“]([^"”]{2,80})["”]/.exec(text)?.[1]
  const about =
    /\b(?:chart|graph|plot|infographic|pie|histogram)\s+(?:of|for|showing|about|with)\s+(?:the\s+|our\s+|my\s+)?([^:,\n(]{2,60})/i.exec(
      text,
    )?.[1]
  // In "A chart of apples 10, pears 25" the text after "of" is the first row, not a title.
  const subject = about && !/\d\s*$/.test(about) ? about : null
  const title = (quoted ?? subject ?? 'Figures').trim().replace(/(?<!\s)\s+(?:by|per|with|in)$/i, '')
  return title.charAt(0).toUpperCase() + title.slice(1)
}
