import type { Origin } from '../engines'
import { DEFAULT_FLOOR } from './schema'

/** The input for choosing the mode of a request. */
export type ModeRequest = {
  /** The requested mode. `auto` or null leaves the choice to the classifier. */
  mode: string | null
  /** The account's own default, used when no mode was sent (docs/api.md 2.4). */
  defaultMode?: string | null
  prompt: string
  hasImages: boolean
  /** The caller's rules, floors and examples. Absent when there are none. */
  guidance?: Guidance
  /** Whether a mode has a connected engine. If absent, every mode counts as connected. */
  answers?(mode: string): boolean
  /** Receives the answer of the engine classifier, even when it does not decide. For previews. */
  heard?(opinion: { mode: string; confidence: number } | null): void
  /** The owner of the request, for the engine classifier. */
  origin?: Origin
  /**
   * Set for a run that continues with the results of its tools: the mode in which it began, or null if unknown. The
   * engine classifier is not asked again (docs/api.md 4).
   */
  goesOn?: { mode: string | null }
  /** Aborts when the caller disconnects. Without it the engine classifier is not asked. */
  signal?: AbortSignal
}

/** The chosen mode and how it was chosen (docs/api.md 2.2, `routing`). */
export type Choice = {
  mode: string
  source: 'explicit' | 'rule' | 'heuristic' | 'local' | 'classifier' | 'default'
  confidence: number | null
  reasoning: string | null
  /** The engine that a rule named. Null leaves it to the mode. */
  engine: string | null
  /** The preference that applies. Null without one, and when a rule of the key itself decided. */
  preferenceId: string | null
}

/** A routing rule for stage 1 (docs/api.md 22.2), from a preference or a key. */
export type Rule = {
  mode: string
  /** The engine that the rule names, or null for the mode's own. */
  engine: string | null
  /** Already clamped to [0.5, 0.99]. */
  confidence: number
  /** For `routing.reasoning`. */
  reasoning: string | null
  /** The preference that contains the rule. Null for a rule of the key itself. */
  preferenceId: string | null
  /** The pattern as its owner wrote it, shown in previews. */
  pattern: string
  matches(prompt: string): boolean
}

/** A caller's routing rules, floors and examples (docs/api.md 13). */
export type Guidance = {
  /** The preference that applies, or null. */
  preferenceId: string | null
  /** In the order in which they are tried. */
  rules: readonly Rule[]
  /** Floors by mode that replace the global one. */
  floors: Readonly<Record<string, number>>
  /** Few-shot examples for the engine classifier. */
  examples: readonly { prompt: string; expected_mode: string }[]
}

/** The guidance of a caller without any. */
const NO_GUIDANCE: Guidance = { preferenceId: null, rules: [], floors: {}, examples: [] }

const LOWEST = 0.5
const HIGHEST = 0.99

/** The floor of a mode: the override clamped to [0.5, 0.99], else the global one. */
export function floorOf(mode: string, floors: Guidance['floors']): number {
  const own = Object.hasOwn(floors, mode) ? floors[mode]! : Number.NaN
  return Number.isNaN(own) ? DEFAULT_FLOOR : Math.min(HIGHEST, Math.max(LOWEST, own))
}

/** `fires` matches words that clearly request a mode. `unless` matches words that contradict it. */
type Signal = {
  mode: string
  fires: RegExp
  unless?: RegExp
  confidence: number
  /** For `routing.reasoning`. Names the kind of signal, never the prompt. */
  reasoning: string
}

/** Polite words that may precede the verb of an English request. A question about the verb does not match. */
const OPENING =
  "^(?:(?:please|hey|hi|ok|okay|now|so|kindly|svc|can you|could you|would you|will you|i want you to|i need you to|i(?: would|'d) like you to|i want to|i need to|let's|lets|go ahead and|help me(?: to)?)[ ,]+)*"

/** A pattern that must match at the start of the instruction. */
const begins = (pattern: string): RegExp => new RegExp(`${OPENING}(?:${pattern})`, 'iu')

const LANGUAGES =
  'python|javascript|typescript|java|kotlin|swift|rust|golang|go|ruby|php|perl|scala|haskell|elixir|lua|julia|matlab|bash|shell|powershell|sql|html|css|react|vue|svelte|angular|node(?:\\.js)?|django|flask|c|c\\+\\+|c#|\\.net|dart|flutter|solidity|assembly|regex|latex|svg|matplotlib|canvas|opengl|webgl|three\\.js'

const MAKE = '(?:make|create|generate|produce|design|render|give me|show me|build)'

/** An article and up to four adjectives before the noun. A preposition ends them, because another noun follows it. */
const ADJECTIVES =
  "(?:(?:me|us) )?(?:an?|the|some|two|three|my|our|another|one)? ?(?:(?!(?:for|of|to|about|with|from|on|in|by|that|who)\\b)[\\p{L}\\p{N}'-]+ ){0,4}?"

const PICTURE =
  '(?:image|picture|photo|photograph|illustration|drawing|painting|portrait|logo|icon|poster|wallpaper|artwork|avatar|sketch|cartoon|banner)s?'

const VIDEO = '(?:video|movie|video clip|clip|animation|short film)s?'

const CODE_THING =
  '(?:function|component|class|script|program|method|algorithm|regex|regular expression|sql query|query|api|endpoint|unit tests?|test suite|parser|decorator|hook|cli|dockerfile|makefile|code snippet|snippet|code|microservice|web server|http server|web ?scraper|binary search|linked list)s?'

/** Words that make `image` or `video` a software term, a file or a figure of speech. */
const NOT_MEDIA =
  /\b(?:docker|disk|container|iso|system|vm|mirror|ascii|mermaid|uml|flow ?chart|gantt|er) |\b(?:image|picture|photo|icon|logo|video|animation|clip|movie|drawing|banner)s? (?:component|gallery|classifier|upload|uploader|process|tag|element|viewer|slider|carousel|editor|search|model|recognition|detection|compression|format|file|url|link|game|script|call|player|titles?|ideas?|description|summary|outline|essay|conference|stream|platform|app|codec|prompts?|caption|review|recommendation|quiz|night|poster|library|generator|function|class|helper)/i

/** Diagrams and charts, which are written, not painted. */
const DRAWN_BY_CODE =
  /\b(?:svg|python|matplotlib|turtle|mermaid|plantuml|graphviz|uml|ascii|css|html|canvas|latex|tikz|diagram\w*|sch?ema\w*|graf\w*|wykres\w*|histogram\w*|flowchart|tabe\w*|tabul\w*)|biểu đồ|sơ đồ|діаграм|диаграм|график|графік|διάγραμμα|γράφημα/iu

const IN_A_LANGUAGE = new RegExp(`\\b(?:in|using|with) (?:${LANGUAGES})(?![\\w+#])`, 'i')

const signalEnglish = (
  mode: string,
  confidence: number,
  reasoning: string,
  fires: RegExp,
  unless?: RegExp,
): Signal => ({
  mode,
  confidence,
  reasoning,
  fires,
  ...(unless ? { unless } : {}),
})

/** In the order in which they are tried. The first one that fires decides. */
const ENGLISH: readonly Signal[] = [
  signalEnglish(
    'fast',
    0.95,
    'asks for a translation',
    begins(
      '(?:translate|how do (?:i|you) say)\\b.*\\b(?:in(?:to)?|to) (?:[a-z]+ )?(?:english|german|french|spanish|italian|portuguese|dutch|polish|turkish|russian|arabic|hindi|japanese|chinese|mandarin|korean|danish|swedish|norwegian|finnish|greek|hebrew|czech|ukrainian|latin|vietnamese|thai)\\b',
    ),
    IN_A_LANGUAGE,
  ),
  signalEnglish(
    'roast',
    0.97,
    'asks for a roast',
    begins('roast (?:me|my|this|that|these|our|us|him|her|them|yourself|the following)\\b'),
    /\b(?:chicken|beef|lamb|pork|potato\w*|vegetables?|turkey|coffee|beans?|oven|degrees|minutes|recipe|garlic|nuts?)\b/i,
  ),
  signalEnglish(
    'code',
    0.96,
    'shows an error of a program',
    /Traceback \(most recent call last\)|\b(?:TypeError|ReferenceError|SyntaxError|NullPointerException|SegmentationFault)\b|error TS\d{4}|panicked at|Exception in thread|segmentation fault/,
  ),
  signalEnglish(
    'code',
    0.96,
    'asks for code in a named language',
    begins(
      `(?:write|create|make|build|implement|code|generate|develop|refactor|debug|fix|optimi[sz]e|port|parse|sort|draw|plot|convert|extract|read|show me|give me) .*\\b(?:in|using|to|with) (?:${LANGUAGES})(?![\\w+#])`,
    ),
    /\b(?:e-?mail|letter|poem|essay|story|song|blog|article|love|go (?:to|home|out|there|back))\b/i,
  ),
  signalEnglish(
    'code',
    0.95,
    'asks for a piece of a program',
    begins(
      `(?:write|create|make|build|implement|generate|develop|refactor|debug|fix|optimi[sz]e|give me|show me|code) ${ADJECTIVES}${CODE_THING}\\b`,
    ),
    /\bcodes? of (?:conduct|ethics|honou?r|practice)|\b(?:dress|zip|postal|promo|discount|coupon|qr|bar|country|area|access|morse|moral|gift|building|colou?r|voucher) ?codes?\b|\b(?:movie|film|play|sales|video|podcast|radio|tv|phone|call|youtube|training|workout|exercise|loyalty|event|reward|fitness|mentor\w*|yoga|dance|cooking|master|language|phishing|query letter|hook for|fish\w*) (?:script|program|class|hook|method)|\b(?:script|program|class|hook|query) (?:letter|for (?:a |an |my |the |our )?(?:play|movie|film|video|podcast|students?|kids|children|event|wedding|concert|essay|gym|employees))|\bsketch comedy\b/i,
  ),
  signalEnglish(
    'code',
    0.93,
    'asks for a diagram as text',
    begins(
      '(?:draw|make|create|generate|write|sketch|show|give me|design) .*\\b(?:mermaid|plantuml|graphviz|tikz|uml (?:\\w+ )?diagram)\\b',
    ),
  ),
  signalEnglish(
    'video',
    0.95,
    'asks for a video',
    begins(`(?:${MAKE}|film|shoot) ${ADJECTIVES}${VIDEO}\\b`),
    NOT_MEDIA,
  ),
  signalEnglish(
    'video',
    0.93,
    'asks for an animation',
    begins('animate (?:an?|the|this|my|me|two|some)\\b'),
    IN_A_LANGUAGE,
  ),
  signalEnglish(
    'image',
    0.95,
    'asks for a drawing',
    begins(
      '(?:draw|paint|sketch|illustrate)(?: me| us)? (?:an?|the|my|our|some|two|three|four|five|this|that|his|her)\\b',
    ),
    /\b(?:draw|sketch) (?:up|on|out|from|near|back)\b|\b(?:draw|paint)(?: (?:me|us))? (?:an?|the|some|this|my)? ?(?:\w+ )?(?:conclusions?|parallels?|distinctions?|comparisons?|attention|line between|lines? in|lots?|cards?|blood|inspiration|bath|salary|table|diagram|flow ?chart|chart|graph|tree|map of the process|contract|will|plan|outline|picture of (?:the|how|what|life|our))\b|\b(?:ascii|mermaid|uml|plantuml)\b|\b(?:wall|house|room|fence|door|ceiling|kitchen|bedroom|car) (?:white|blue|green|red|black|tomorrow)\b/i,
  ),
  signalEnglish(
    'image',
    0.93,
    'asks for a drawing in another language',
    /^(?:(?:hãy )?vẽ|narysuj|namaluj|naszkicuj|nakresli|nakreslete|rajzolj|намалюй|нарисуй|(?:teken|rita|tegn) (?:me|mij|mig|meg|een|en|ett|et|de|den|det|het)|piirrä|desenează|ζωγράφισε|σχεδίασε|lukiskan|วาด(?=\S)|ציירי?|আঁকো)(?:\s|(?<=วาด))/iu,
    DRAWN_BY_CODE,
  ),
  signalEnglish('image', 0.95, 'asks for a picture', begins(`${MAKE} ${ADJECTIVES}${PICTURE}\\b`), NOT_MEDIA),
  signalEnglish(
    'image',
    0.93,
    'describes a picture to be made',
    /^(?:an? (?:[\p{L}-]+ ){0,2})?(?:image|picture|photo|illustration|drawing|painting|portrait|sketch) (?:of|showing) /iu,
    /\?|\b(?:is|are|was|were|has|have|can|should)\b/i,
  ),
  signalEnglish(
    'research',
    0.93,
    'asks for research',
    begins(
      '(?:(?:do|conduct|carry out|perform) (?:some |a |an |deep |in-depth |thorough |market )*(?:research|literature review|investigation)\\b|(?:deep(?:ly)? )?research (?!shows?|suggests?|has|have|is|was|says|indicates|found|paper|proposal|question|assistant|grant|scientist|lab|institute|method|and development)[\\p{L}\\p{N}]|investigate (?:the|how|why|what|whether)\\b|find (?:me )?(?:\\w+ ){0,2}sources (?:on|about|for)\\b)',
    ),
  ),
  signalEnglish(
    'data_extraction',
    0.94,
    'asks for data out of a text',
    begins(
      '(?:extract|parse|pull(?: out)?|collect|scrape|get me) (?:all |the |every |any |only |key |structured |following |from )*(?:[\\p{L}-]+ ){0,4}?(?:e-?mails?|names?|dates?|fields?|data|entities|json|csv|tables?|information|info|amounts?|prices?|phone numbers?|addresses|urls?|line items|numbers|details|keywords|invoice|facts)\\b.*(?:\\b(?:from|in|into|out of|as|to|of)\\b|:)',
    ),
    /\b(?:zip|tar|archive|folder|directory|database|table rows? in)\b/i,
  ),
  signalEnglish(
    'data_extraction',
    0.92,
    'asks for JSON',
    begins(
      '(?:convert|turn|transform|put|format|return|output|give me|structure) (?:this|that|these|it|the following|the text|the data|the result|my)\\b.*\\b(?:as|in|into|to) (?:valid |a |an |structured )*(?:json|csv|yaml|table)\\b',
    ),
    IN_A_LANGUAGE,
  ),
  signalEnglish(
    'think',
    0.92,
    'asks for careful reasoning',
    /(?<!["“„«'])\b(?:think|reason)(?: (?:it|this|that|about (?:it|this)))?(?: through)?,? (?:carefully|step[- ]by[- ]step|hard|deeply)\b|^(?:please )?prove (?:that|the)\b/i,
  ),
]

type Found = { mode: string; confidence: number; reasoning: string }

/** Only the start of a prompt is searched for an instruction, because the rest is mostly the text it refers to. */
const HEAD_CHARS = 400

/** Modes that win over `vision` when an image is attached (docs/api.md 2.1). */
const STRONGER_THAN_A_PICTURE = new Set(['data_extraction', 'image', 'video'])

/** The mode a stage found, sure enough or not. `matched` is the pattern or signal that matched, for previews. */
export type StageResult = Pick<Choice, 'mode' | 'reasoning' | 'engine' | 'preferenceId'> & {
  confidence: number
  matched: string | null
}

/** A stage without cost. `look` returns the stage's result or null (docs/api.md 22.2). */
export type Stage = { source: 'rule' | 'heuristic' | 'local'; look(request: ModeRequest): StageResult | null }

export const guidanceOf = ({ guidance }: ModeRequest): Guidance => guidance ?? NO_GUIDANCE

/** Whether the confidence reaches the floor of the mode. */
export const isSure = ({ mode, confidence }: Pick<StageResult, 'mode' | 'confidence'>, request: ModeRequest): boolean =>
  confidence >= floorOf(mode, guidanceOf(request).floors)

/** Stage 0: the mode that the caller or the account's default names. */
export function explicit({ mode, defaultMode }: ModeRequest): Choice | null {
  const question = mode ?? defaultMode
  if (!question || question === 'auto') return null
  return { mode: question, source: 'explicit', confidence: null, reasoning: null, engine: null, preferenceId: null }
}

/**
 * Stage 1: the first matching rule whose confidence reaches the floor of its mode. Without one, the first matching
 * rule. That rule decides nothing, but previews show it.
 */
export const rule: Stage = {
  source: 'rule',
  look(request) {
    const { rules } = guidanceOf(request)
    const result =
      rules.find((one: Rule) => isSure(one, request) && one.matches(request.prompt)) ??
      rules.find((one: Rule) => !isSure(one, request) && one.matches(request.prompt))
    if (!result) return null
    const { mode, confidence, reasoning, engine, preferenceId, pattern } = result
    return { mode, confidence, reasoning, engine, preferenceId, matched: pattern }
  },
}

export const heuristic: Stage = {
  source: 'heuristic',
  look(request) {
    const signal = clearSignal(request.prompt, request.hasImages)
    return (
      signal && { ...signal, engine: null, preferenceId: guidanceOf(request).preferenceId, matched: signal.reasoning }
    )
  },
}

/** Modes that can answer any prompt with text, in order of preference (docs/api.md 22.2, stage 5). */
const STAND_INS = ['fast', 'think', 'code', 'research', 'domain_analysis'] as const

/** The mode when no stage is sure: `fast`, or the next of these modes if `fast` has no engine. */
export const fallbackMode = ({ answers }: Pick<ModeRequest, 'answers'>): string =>
  (answers && STAND_INS.find((mode) => answers(mode))) ?? STAND_INS[0]

/** The first clear signal of a prompt. Deterministic, for unambiguous words (docs/api.md 22.2, stage 2). */
function clearSignal(prompt: string, hasImages: boolean): Found | null {
  const head = prompt.slice(0, HEAD_CHARS).trim().replace(/\s+/g, ' ')
  const signal = ENGLISH.find(({ fires, unless }) => fires.test(head) && !unless?.test(head))
  if (hasImages && !(signal && STRONGER_THAN_A_PICTURE.has(signal.mode))) {
    return { mode: 'vision', confidence: 0.97, reasoning: 'an image is attached' }
  }
  return signal ? { mode: signal.mode, confidence: signal.confidence, reasoning: signal.reasoning } : null
}
