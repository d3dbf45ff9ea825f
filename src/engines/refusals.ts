/** What of a request an engine could not take; `length` is its prompt, or prompt and answer together. */
export type RefusedPart = 'length' | 'images' | 'tools' | 'schema' | 'temperature' | 'content' | 'request'

/** What an upstream says of a request that it refuses with 400, 413 or 422. */
export type Refusal = {
  part: RefusedPart
  /** Tokens that came and tokens that it takes at most, as it states them; null where it does not. */
  sent: number | null
  max: number | null
}

type Stated = { message: string; codes: readonly string[]; param: string; numbers: Record<string, unknown> }

const REFUSING: ReadonlySet<number> = new Set([400, 413, 422])

/** Most characters of an upstream's words that are read or kept. */
export const MAX_WORDS = 16_384

/** Some upstreams say with 400 that the operator's key, model or output limit is wrong, as others do with 401 or 404. */
const OPERATORS_CODE =
  /^(?:model_not_found|model_not_exist|invalid_model|unknown_model|model_not_supported|deploymentnotfound|invalid_api_key|api_key_invalid)$/i
const OPERATORS_WORDS = [
  /^[^.:]{0,60}\bmodel\b[:= ]*[`'"]?[^\s`'"]{0,120}[`'"]? ?(?:does not exist|doesn't exist|not exist|(?:was |is )?not found|is not a valid|is unknown)/i,
  /^(?:unknown|invalid|no such) model\b/i,
  /^[^.:]{0,40}\bapi[ _-]?key\b[^.:]{0,40}\b(?:invalid|not valid|incorrect|missing)/i,
  /^\W?max_(?:completion_|output_)?tokens\b(?!.*context).*(?:completion|output) tokens/i,
]
/** A longer message may quote the prompt, which must not make a request the operator's fault. */
const MAX_OPERATORS_CHARS = 300

const LENGTH_CODE = /context_(?:length|size|window)|exceed_context|too_(?:long|large)|string_above_max_length/i
const LENGTH_WORDS =
  /context (?:length|size|window)|too long|too large|too many (?:input )?tokens|maximum (?:number of )?(?:input |prompt )?tokens|maximum (?:model|input|prompt) length|token count|reduce the length|max_new_tokens/i

/** By the member that the upstream names, else by its words; the first that fits. */
const PARTS: readonly [RefusedPart, RegExp, RegExp][] = [
  ['content', /^$/, /content[ _](?:filter|policy|management)|safety|moderation|flagged|usage polic/i],
  ['images', /image/i, /\bimages?\b|\bimage_url\b|\bmedia type\b|\bpicture\b/i],
  [
    'schema',
    /response_format|json_schema|response_schema|text\.format/i,
    /response_format|response_?schema|json_schema|json mode/i,
  ],
  ['tools', /tool|function/i, /\btools?\b|\btool_(?:choice|calls?|use|result)\b|\bfunctions?\b/i],
  ['temperature', /temperature/i, /\btemperature\b/i],
]

/** What a refusal is about; null for a status that is no refusal of the request, or one that the operator has to mend. */
export function readRefusal(status: number, body: string): Refusal | null {
  if (!REFUSING.has(status)) return null
  const stated = readStated(body.slice(0, MAX_WORDS))
  if (isOperators(stated)) return null
  const { message, codes, param } = stated
  if (codes.some((code) => LENGTH_CODE.test(code)) || LENGTH_WORDS.test(message)) {
    if (!/image/i.test(param + message.slice(0, 200))) return { part: 'length', ...tokensIn(stated) }
  }
  const part =
    PARTS.find(([, params]) => param !== '' && params.test(param)) ??
    PARTS.find(([, , words]) => words.test(message) || codes.some((code) => words.test(code)))
  const otherwise = status === 413 ? 'length' : 'request'
  return { part: part?.[0] ?? otherwise, sent: null, max: null }
}

const isOperators = ({ message, codes }: Stated): boolean =>
  codes.some((code) => OPERATORS_CODE.test(code)) ||
  (message.length <= MAX_OPERATORS_CHARS && OPERATORS_WORDS.some((words) => words.test(message)))

/** Upstreams put what they say in `error`, or in the body itself; some of them send a list, and some plain text. */
function readStated(body: string): Stated {
  const parsed = parse(body)
  const whole = objectOf(Array.isArray(parsed) ? parsed[0] : parsed)
  const error = objectOf(whole.error ?? whole.detail ?? whole)
  const words = [error.message, whole.message, whole.detail, whole.error, parsed === null ? body : null]
  const details = Array.isArray(error.details) ? error.details.map((one) => objectOf(one).reason) : []
  return {
    message: words.find((word) => typeof word === 'string') ?? '',
    codes: [error.code, error.type, error.status, ...details].filter((code) => typeof code === 'string'),
    param: typeof error.param === 'string' ? error.param : '',
    numbers: error,
  }
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whole numbers that stand alone: those of a model's name do not. */
const NUMBER = String.raw`(?<![\w.-])(\d[\d,]*)(?![\w-]|\.\d)`
const NUMBERS = new RegExp(NUMBER, 'g')

/** In which words upstreams say what they take at most. */
const MAX = [
  String.raw`(?:context|model|input|prompt|sequence) (?:length|size|window)[^\d.]{0,40}${NUMBER}`,
  String.raw`maximum (?:number of )?(?:\w+ )?tokens[^\d.]{0,30}${NUMBER}`,
  `${NUMBER} (?:tokens? )?maximum`,
  String.raw`(?:limit|limited to|at most|up to|must be <=|less than)[^\d.]{0,30}${NUMBER}`,
].map((words) => new RegExp(words, 'i'))

/** In which words they say what came. */
const SENT = [
  String.raw`(?:resulted in|requested|contains|too long:|token count|prompt \(length|request)[ (]{1,2}(?:about )?${NUMBER}`,
].map((words) => new RegExp(words, 'i'))

function tokensIn({ message, numbers }: Stated): Pick<Refusal, 'sent' | 'max'> {
  const max = wholeNumber(numbers.n_ctx) ?? firstOf(MAX, message)
  if (max === null) return { sent: null, max: null }
  const others = [...message.matchAll(NUMBERS)].map(([, digits]) => numberOf(digits!)).filter((value) => value !== max)
  const larger = others.filter((value) => value > max)
  const sum = others.reduce((all, value) => all + value, 0)
  const stated = wholeNumber(numbers.n_prompt_tokens) ?? firstOf(SENT, message)
  const sent = stated !== null && stated > max ? stated : larger.length ? Math.max(...larger) : sum > max ? sum : null
  return { sent, max }
}

const wholeNumber = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null

const numberOf = (digits: string): number => Number(digits.replaceAll(',', ''))

function firstOf(patterns: readonly RegExp[], text: string): number | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]
    if (found !== undefined) return wholeNumber(numberOf(found))
  }
  return null
}
