import { type AppError, defineErrors } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { EngineFailure } from './engine'

/** Advice for the caller: try again, or use `fast` unless that failed. A chat has no `mode`, so it names a `model`. */
const alternative = (mode: string) =>
  mode === 'fast' ? 'Try again shortly' : 'Try again shortly, or send "mode":"fast" (in a chat "model":"svc-1-flash")'

export const engineErrors = {
  ...defineErrors('engine_unavailable', {
    /** 503: the primary and every fallback engine failed before the first byte (docs/api.md 22.3). */
    engineUnavailable: (mode: string) =>
      `The engine for mode "${mode}" did not answer. Nothing was charged. ${alternative(mode)}. The operator can look up this request id.`,
    /** 503: no connected upstream can answer this mode. */
    engineMissing: (mode: string) =>
      `No engine for mode "${mode}" is connected on this server. Nothing was charged. Send another mode (in a chat another "model"), or ask the operator to connect one.`,
    /** 503: no upstream of the image engine edits pictures. */
    noEdits: (_mode: string) =>
      'No engine of this server edits pictures. Nothing was charged. Its operator can connect one to svc-1-create, such as a model named gpt-image, or set "imageEdits" of its upstream.',
    /** 503: no available engine supports what the request needs (docs/api.md 28.4). */
    engineUnable: (mode: string, missing: string) =>
      `The engine for mode "${mode}" cannot do ${missing}. Nothing was charged. Send the request without it, or use another mode (in a chat another "model").`,
    /** 503 in the middle of a stream: the text so far was delivered, the rest is lost. */
    engineBrokeOff: (mode: string) =>
      `The engine for mode "${mode}" stopped in the middle of its answer. ${alternative(mode)}. The operator can look up this request id.`,
  }),
  ...defineErrors('validation_error', {
    refused: (sentence: string) => sentence,
  }),
}

/** Sentences about the part that an engine refused, except for a request that is too long. */
const COULD_NOT_TAKE: Record<Exclude<RefusedPart, 'length'>, string> = {
  images: 'an image of this request. Send it as PNG, JPEG or WebP, make it smaller, or leave it out.',
  tools: 'the tools of this request or their calls. Check their names and JSON Schemas, or leave them out.',
  schema: 'the requested answer format. Simplify the JSON Schema, or leave it out.',
  temperature: 'this "temperature". Send one between 0 and 1, or leave it out.',
  content: 'this request because of its content rules. Rephrase it.',
  request: 'this request as it was sent. The operator can look up this request id.',
}

/** The part of a request that an engine refused. `length`: the prompt, or prompt and answer, are too long. */
export type RefusedPart = 'length' | 'images' | 'tools' | 'schema' | 'temperature' | 'content' | 'request'

/** An upstream's refusal with 400, 413 or 422. */
export type Refusal = {
  part: RefusedPart
  /** Tokens sent and maximum tokens, as the upstream states them, or null. */
  sent: number | null
  max: number | null
}

type Stated = { message: string; codes: readonly string[]; param: string; numbers: Record<string, unknown> }

const REFUSING: ReadonlySet<number> = new Set([400, 403, 413, 422])

/** Characters of an upstream's text to read or keep, at most. */
const MAX_WORDS = 16_384

/** Codes of a 400 that mean a wrong key, model, output limit or account of the operator. Others use 401, 402 or 404. */
const OPERATORS_CODE =
  /^(?:model_not_found|model_not_exist|invalid_model|unknown_model|model_not_supported|deploymentnotfound|invalid_api_key|api_key_invalid|insufficient_(?:balance|credits?|funds|quota)|billing_\w{1,40})$/i

const OPERATORS_WORDS = [
  /^[^.:]{0,60}\bmodel\b[:= ]*[`'"]?[^\s`'"]{0,120}[`'"]? ?(?:does not exist|doesn't exist|not exist|(?:was |is )?not found|is not a valid|is unknown)/i,
  /^(?:[/\w]{1,60}: )?(?:unknown|invalid|no such) model\b/i,
  /^unsupported parameter: '?max_(?:completion_|output_)?tokens\b/i,
  /^[^.:]{0,40}\bapi[ _-]?key\b[^.:]{0,40}\b(?:invalid|not valid|incorrect|missing)/i,
  /^[^.:]{0,40}\b(?:credit balance is too low|billing hard limit|insufficient (?:account )?(?:balance|credits?|funds))/i,
  /^\W?max_(?:completion_|output_)?tokens\b(?!.*context).*(?:completion|output) tokens/i,
  /\bno models? (?:is |are )?loaded|\bmodel\b.{0,120}\b(?:crashed|unloaded|decommissioned|deprecated|retired)|failed to load (?:the )?model/i,
  /not a valid model\b|location is not supported|not available in your (?:region|country)/i,
]

/** Longer messages are not matched, because they may quote the prompt, which must not become the operator's fault. */
const MAX_OPERATORS_CHARS = 300

const LENGTH_CODE = /context_(?:length|size|window)|exceed_context|too_(?:long|large)|string_above_max_length/i

const LENGTH_WORDS =
  /max_model_len|model (?:token )?limit|longer than the max|tokens?\b.{0,40}\b(?:exceeds?|at most)\b|超长|context[ -](?:length|size|window)|too long|too large|too many (?:input )?tokens|max(?:imum)? (?:number of )?(?:input |prompt |message )?tokens|max(?:imum)? (?:model |input |prompt )?length|max_seq_len|context limit|context of \d|tokens length|上下文长度|token count|token limit|reduce the length|max_new_tokens|must have less than \d+ tokens|range of input length/i

/** Messages of a 500 that mean that the prompt is too long. */
const OVER_CONTEXT =
  /(?:exceed|larger|longer|greater)[^.]{0,60}context|context (?:length|size|window)[^.]{0,30}exceed|too large to process/i

/** Finds the refused part by the parameter that the upstream names, else by its message. The first match wins. */
const PARTS: readonly [RefusedPart, RegExp, RegExp][] = [
  [
    'content',
    /^$/,
    /content[ _](?:filter|policy|management|exists risk)|data_inspection|inappropriate content|敏感内容|safety|moderation|flagged|usage polic/i,
  ],
  ['images', /image/i, /\bimages?\b|\bimage_url\b|\bmedia type\b|\bpicture\b/i],
  [
    'schema',
    /response_format|json_schema|response_schema|text\.format/i,
    /response_format|response_?schema|json_schema|json mode/i,
  ],
  ['tools', /tool|function/i, /\btools?\b|\btool_(?:choice|calls?|use|result)\b|\bfunctions?\b/i],
  ['temperature', /temperature/i, /\btemperature\b/i],
]

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Whole numbers, but not those within a model's name. */
const NUMBER = String.raw`(?<![\w.-])(\d[\d,]*)(?![\w]|-(?!tokens?\b)|\.\d)`

const NUMBERS = new RegExp(NUMBER, 'g')

/** How upstreams state their maximum. */
const MAX = [
  String.raw`context limit: \d{1,9} \+ \d{1,9} > ${NUMBER}`,
  String.raw`(?:context|model|input|prompt|sequence) (?:length|size|window)(?! by)[^\d.]{0,40}${NUMBER}`,
  String.raw`(?:context of|max_seq_len \(|上下文长度) ?${NUMBER}`,
  String.raw`max(?:imum)? (?:number of )?(?:\w+ )?tokens[^\d.]{0,30}${NUMBER}`,
  `${NUMBER} (?:tokens? )?maximum`,
  String.raw`(?:max_model_len|maximum)[^\d.]{0,30}${NUMBER}`,
  String.raw`(?:limit|limited to|at most|up to|must be <=|less than|cannot exceed|exceeding)[^\d.]{0,30}${NUMBER}`,
  String.raw`range of input length should be \[\d+, ${NUMBER}`,
].map((words) => new RegExp(words, 'gi'))

/** How upstreams state the size of the request. */
const SENT = [
  String.raw`(?:resulted in|requested:?|contains|too long:|token count|prompt \(length|request|received|got|given:|request has)[ (]{1,2}(?:about )?${NUMBER}`,
  String.raw`length ${NUMBER}\)? (?:is longer|exceeds)`,
].map((words) => new RegExp(words, 'gi'))

const wholeNumber = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null

const numberOf = (digits: string): number => Number(digits.replaceAll(',', ''))

/** Maps an error status and its body to a failure (docs/design.md 5, docs/api.md 22.3). */
export function failureOfStatus(status: number, headers: Headers, now: number, body = ''): EngineFailure {
  // The machine-readable part of an upstream's error body. Only a short identifier is taken: the rest may quote the
  // prompt, which no log may hold (docs/promises.md I19).
  const found = /"(?:code|type|status)"\s*:\s*"([a-zA-Z0-9_.-]{1,60})"/.exec(body.slice(0, 4_096))
  const code = found?.[1] ?? ''
  const message = `the upstream answered ${status}${code ? ` (${code})` : ''}`
  const { codes, message: words, numbers } = readStated(MAY_BE_THROTTLED.has(status) ? body.slice(0, MAX_WORDS) : '')
  const isThrottled =
    status === 429 || [...codes, words].some((one) => one.length <= MAX_OPERATORS_CHARS && THROTTLED.test(one))
  const isWait = isThrottled || status === 503
  const retryAfterS = readRetryAfter(headers, now) ?? (isWait ? statedWait(headers, body, now) : undefined)
  if (isThrottled) return new EngineFailure('throttled', message, { retryAfterS })
  // The model wrote calls or JSON that its server could not read. No client can change that.
  if ('failed_generation' in numbers) return new EngineFailure('malformed', message)
  if (status === 408 || status === 504) return new EngineFailure('timeout', message, { retryAfterS })
  const about = readRefusal(status, body)
  if (status >= 500 && !about) return new EngineFailure('server', message, { retryAfterS })
  if (about) return new EngineFailure('rejected', message, { rejection: { about, words: body.slice(0, MAX_WORDS) } })
  // All others, redirects included, mean that the configured address, key or model is wrong.
  return new EngineFailure(
    'config',
    `${message}: ${CAUSES.get(status) ?? 'it does not accept the configured address, key or model'}`,
  )
}

/** Other statuses with which some servers report a rate limit. */
const MAY_BE_THROTTLED: ReadonlySet<number> = new Set([400, 403, 500])
const THROTTLED =
  /rate[ _]?limit|throttl|too_?many_?(?:requests|tokens)|quota_?exceeded|^rate exceeded|^too many (?:requests|tokens, please wait)/i

/**
 * Maps an error inside a 200 to a failure, as if it had come with its own status (docs/api.md 22.3). `wire` is the body
 * or event that contains it.
 */
export function failureOfReport(wire: unknown, headers: Headers, now: number): EngineFailure {
  const body = JSON.stringify(wire)
  const { error = wire } = wire as { error?: unknown }
  const members = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const stated = [members.status, members.code, members.status_code, members.http_code].map(Number)
  const status = stated.find((one) => Number.isInteger(one) && one >= 400 && one < 600)
  const beginning = body.slice(0, MAX_WORDS)
  const meant = status ?? STATUS_OF_WORDS.find(([words]) => words.test(beginning))?.[1] ?? 500
  return failureOfStatus(meant, headers, now, body)
}

/** Whether a body is only an error: `{"code": 429, "message": …}`, or an object that declares itself an error. */
export function isReport(value: object): boolean {
  const {
    object,
    choices,
    code,
    status,
    message,
    title,
    msg,
    error_msg,
    errmsg,
    success,
    base_resp,
    detail,
    ResponseMetadata,
  } = value as Record<string, unknown>
  if (choices != null) return false
  // Vendors' own forms of an error within a 200.
  if (success === false || typeof error_msg === 'string' || objectOf(base_resp).status_code) return true
  if (object === 'error' || objectOf(ResponseMetadata).Error || Object.keys(value).join() === 'detail') return true
  const words = message ?? title ?? msg ?? detail ?? errmsg
  if (typeof words === 'string' && THROTTLED.test(words)) return true
  const isNamed = status === 'error' || (typeof code === 'string' && /^(?!Success|OK)[A-Z][A-Za-z.]{3,60}$/.test(code))
  return typeof words === 'string' && (isNamed || Number(code ?? status) >= 400)
}

/** Status codes for the error identifiers of upstreams. */
const STATUS_OF_WORDS: readonly [RegExp, number][] = [
  [/rate[_ ]?limit|too[_ ]many[_ ]requests|resource_exhausted|quota|throttl|\b[qrt]p[sm] (?:request )?limit/i, 429],
  [/overloaded|unavailable|capacity/i, 503],
  [/context_(?:length|window)|maximum context length|invalid_(?:request|argument)|too_long|bad_request/i, 400],
  [/authentication|invalid_api_key|unauthori[sz]ed/i, 401],
  [/permission/i, 403],
  [/not[_ ]found/i, 404],
]

const CAUSES = new Map([
  [401, 'it refuses the configured key'],
  [403, 'it does not allow this with the configured key'],
  [404, 'it does not know this model or address'],
])

/** Seconds to wait, from the headers of the wait itself. Undefined when none is usable. */
function readRetryAfter(headers: Headers, now: number): number | undefined {
  const ms = (headers.get('retry-after-ms') ?? headers.get('x-ms-retry-after-ms'))?.trim() ?? ''
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(ms)) return Number(ms) / 1_000
  // Two proxies may send it twice. Some servers quote it, or add a unit, as in `30s`, `PT30S` and `30 seconds`.
  const given = (headers.get('retry-after') ?? headers.get('x-retry-after'))?.trim().replace(/^"|"$/g, '') ?? ''
  const word = /^\d+,/.test(given) ? given.split(',')[0]! : given
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(word)) return Number(word)
  return secondsOf(word) ?? untilMoment(word, now)
}

/** The limits that upstreams count, with their headers: what is left, and when it is reset. */
const LIMITS = [
  ...['requests', 'tokens'].map((what) => [`x-ratelimit-remaining-${what}`, `x-ratelimit-reset-${what}`] as const),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    (what) => [`anthropic-ratelimit-${what}-remaining`, `anthropic-ratelimit-${what}-reset`] as const,
  ),
  ...['reset', 'reset-after'].map((end) => ['x-ratelimit-remaining', `x-ratelimit-${end}`] as const),
  ['ratelimit-remaining', 'ratelimit-reset'] as const,
]

const WAIT_MEMBER =
  /"(?:retry_?after|resets?_in|estimated_time)(?:_?(ms|s)[a-z]{0,9})?"\s*:\s*"?(\d{1,9}(?:\.\d{1,9})?)\b/i
const TIME = String.raw`\d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|h|hours?|hrs?|m|minutes?|mins?|s|seconds?|secs?)(?![a-z])`
/** How a text states the time to wait. */
const WAITS = new RegExp(
  String.raw`"retryDelay"\s*:\s*"(${TIME})|(?:\b(?:retry|try again|wait|resets?|available|allowed)\b[^\d"]{0,24}|在 ?)(${TIME}(?:(?:,| and)? ?${TIME})*|\d{1,6} ?秒)|\bretry[ -]after:? (\d{1,6})\b`,
  'i',
)

/** Seconds to wait, from the body of a 429 or a 503, or from the headers of the exhausted limit. */
function statedWait(headers: Headers, body: string, now: number): number | undefined {
  const words = body.slice(0, MAX_WORDS)
  const [, delay, phrase, bare] = WAITS.exec(words) ?? []
  const [, unit = 's', member] = WAIT_MEMBER.exec(words) ?? []
  const [, moment = ''] = /\bresets? at:? (\d{4}-\d\d-\d\d[T ][\d:]{5,8}(?: ?(?:UTC|Z))?)/i.exec(words) ?? []
  // One vendor repeats the headers in the body.
  const [, inBody = ''] = /"x-ratelimit-reset"\s*:\s*"(\d{10,13})"/i.exec(words) ?? []
  const spent = LIMITS.filter(([left]) => headers.get(left) === '0').map(([, reset]) => headers.get(reset) ?? '')
  const [, draft] = /\br=0;t=(\d{1,6})\b/.exec(headers.get('ratelimit') ?? '') ?? []
  const others = ['x-ratelimit-timeremaining', 'x-ratelimit-reset-after'].map((name) => headers.get(name) ?? '')
  const resets = [...spent, draft ?? '', ...others, inBody]
    // Fewer digits than a moment has are seconds.
    .map((word) => secondsOf(/^\d{1,6}(?:\.\d{1,9})?$/.test(word) ? `${word}s` : word) ?? untilMoment(word, now))
  const stated = secondsOf(delay ?? phrase ?? `${bare}s`)
  return stated ?? secondsOf(`${member}${unit}`) ?? untilMoment(moment, now) ?? resets.find((one) => one !== undefined)
}

/** Seconds until a moment: a date, or seconds or milliseconds since 1970. Undefined for other text. */
function untilMoment(word: string, now: number): number | undefined {
  // Only forms of dates, because `Date.parse` accepts "-1" as a date.
  const isDate = /^\d{4}-\d\d-\d\d[T ]\d|^[A-Z][a-z]{2,8},? /.test(word)
  // A date without a zone is in UTC.
  const zoned = /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)$/.test(word)
    ? word
    : `${word.replace(' ', /^\d/.test(word) ? 'T' : ' ')}Z`
  const at = /^\d{10}(?:\d{3})?$/.test(word) ? Number(word.padEnd(13, '0')) : isDate ? Date.parse(zoned) : Number.NaN
  return Number.isFinite(at) ? Math.max(0, Math.ceil((at - now) / 1_000)) : undefined
}

/** Parses durations like `1m30.5s`, `250ms` and `2 minutes and 3 seconds` into seconds, rounded up. */
function secondsOf(words: string): number | undefined {
  const text = words.trim().toLowerCase().replace(/^pt/, '')
  const parts = [...text.matchAll(/(\d{1,9}(?:\.\d{1,9})?) ?(ms|mil|[hms秒])[a-z]{0,9}(?:,| and)? ?/g)]
  if (!parts.length || parts.map(([part]) => part).join('') !== text) return undefined
  return Math.ceil(parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0))
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1, 秒: 1, ms: 0.001, mil: 0.001 }

/** Maps an exception of a call to a failure: there was no connection, or it broke. */
export function failureOfError(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error
  return new EngineFailure('refused', 'no connection to the upstream, or it broke off', { cause: error })
}

/** Reads a refusal. Null if the status is no refusal of the request, or if the operator must fix the settings. */
export function readRefusal(status: number, body: string): Refusal | null {
  if (!REFUSING.has(status) && status !== 500) return null
  const stated = readStated(body.slice(0, MAX_WORDS))
  // Some local servers answer 500 when a prompt is too long. Any other 500 is a server failure.
  if (status === 500 && !OVER_CONTEXT.test(stated.message)) return null
  const { message, codes, param } = stated
  // A 403 may be about the content, but is about the key otherwise.
  if (status === 403 && !PARTS[0]![2].test(message)) return null
  if (codes.some((code) => OPERATORS_CODE.test(code))) return null
  if (message.length <= MAX_OPERATORS_CHARS && OPERATORS_WORDS.some((words) => words.test(message))) return null
  if (codes.some((code) => LENGTH_CODE.test(code)) || LENGTH_WORDS.test(message)) {
    if (!/image(?! and text)/i.test(param + message.slice(0, 200))) return { part: 'length', ...tokensIn(stated) }
  }
  const part =
    PARTS.find(([, params]) => param !== '' && params.test(param)) ??
    PARTS.find(([, , words]) => words.test(message) || codes.some((code) => words.test(code)))
  const otherwise = status === 413 ? 'length' : 'request'
  return { part: part?.[0] ?? otherwise, sent: null, max: null }
}

/** Reads the error from `error` or from the body itself. Some upstreams send a list, and some plain text. */
function readStated(body: string): Stated {
  const parsed = parsedJson(body) ?? null
  const whole = objectOf(Array.isArray(parsed) ? parsed[0] : parsed)
  const error = objectOf(whole.error ?? whole.detail ?? whole)
  const [listed] = [whole.detail, whole.errors].find(Array.isArray) ?? []
  const words = [
    ...[error.message, whole.message, whole.detail, whole.error, objectOf(listed).msg, objectOf(listed).message],
    parsed === null ? body : null,
  ]
  const details = Array.isArray(error.details) ? error.details.map((one) => objectOf(one).reason) : []
  // One vendor has the words of the server behind it there.
  const { raw } = objectOf(error.metadata)
  return {
    message: [words.find((word) => typeof word === 'string'), raw].filter((word) => typeof word === 'string').join(' '),
    codes: [error.code, error.type, error.status, error.__type, ...details].filter((code) => typeof code === 'string'),
    param: typeof error.param === 'string' ? error.param : '',
    numbers: error,
  }
}

function tokensIn({ message, numbers }: Stated): Pick<Refusal, 'sent' | 'max'> {
  const stated = wholeNumber(numbers.n_prompt_tokens) ?? firstOf(SENT, message)
  const max = wholeNumber(numbers.n_ctx) ?? firstOf(MAX, message, stated)
  if (max === null) return { sent: null, max: null }
  const others = [...message.matchAll(NUMBERS)].map(([, digits]) => numberOf(digits!)).filter((value) => value !== max)
  const larger = others.filter((value) => value > max)
  const sum = others.reduce((all, value) => all + value, 0)
  const sent = stated !== null && stated > max ? stated : larger.length ? Math.max(...larger) : sum > max ? sum : null
  return { sent, max }
}

/** The first number that a pattern finds, except `other`. */
function firstOf(patterns: readonly RegExp[], text: string, other: number | null = null): number | null {
  for (const pattern of patterns) {
    const found = [...text.matchAll(pattern)].map(([, digits]) => numberOf(digits!)).find((value) => value !== other)
    if (found !== undefined) return wholeNumber(found)
  }
  return null
}

/**
 * 400: the engine refused the request itself, which is not charged (docs/api.md 22.3). Chat clients detect a request
 * that is too long by the words "maximum context length". `counted` is our own count of its tokens.
 */
export function engineRejected({ part, sent, max }: Refusal, counted: number, cause: unknown): AppError {
  if (part !== 'length')
    return engineErrors.refused.with({ cause }, `The engine could not take ${COULD_NOT_TAKE[part]}`)
  const tokens = sent ?? `about ${counted}`
  const sentence =
    max === null
      ? `This request comes to ${tokens} tokens, which is more than the maximum context length of the engine. Shorten it or split it.`
      : `This request comes to ${tokens} tokens; the maximum context length of the engine is ${max}. Shorten it or split it.`
  const detail = max === null ? `${tokens} tokens are too many` : `${tokens} tokens, at most ${max}`
  return engineErrors.refused.with({ param: 'prompt', details: [{ path: 'prompt', message: detail }], cause }, sentence)
}
