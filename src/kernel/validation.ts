import { AppError, type ErrorDetail, messageOf } from './errors'
import { wordsOf } from './form'
import { nearest } from './nearest'
import { checked, type Issue, SchemaRefusal, type Standard, type Static, type TSchema } from './schema'
import { charactersIn } from './text'

/** One finding of a schema check, as the framework returns it. */
type ValidationIssue = { message: string; path: string[]; keyword: string; params: Record<string, unknown> }

const SHOWN = 3
const MAX_DETAILS = 20

/**
 * Turns schema findings into sentences that name the value and the limit (docs/operating.md 6.1). The message holds the
 * first three problems, `details` up to twenty.
 */
export function validationError(findings: ValidationIssue[], value: unknown): AppError {
  const details = describe(tellingOf(findings), value)
  const shown = details.slice(0, SHOWN).map((detail) => detail.message)
  const more = details.length > SHOWN ? ` ${details.length - SHOWN} more.` : ''
  return new AppError('validation_error', shown.join(' ') + more, {
    param: details[0]?.path ?? '',
    details: details.slice(0, MAX_DETAILS),
  })
}

/** Validates a value from another source, without changing it. Throws 400 `validation_error`. */
export function assertFits<T extends TSchema>(schema: T, value: unknown): asserts value is Static<T> {
  readAs(checked(schema, { nulls: 'refused' }), value)
}

/** Reads a value from another source like the body of a request. Throws 400 `validation_error`. */
export function readAs<T extends TSchema>({ '~standard': { validate } }: Standard<T>, value: unknown): Static<T> {
  try {
    return (validate(value) as { value: Static<T> }).value
  } catch (error) {
    throw error instanceof SchemaRefusal ? validationError(error.issues, error.value) : error
  }
}

/** How a text names the member at a path. The path is empty for the whole value. */
type Naming = { nameOf(path: string): string; shownAt(path: string, value: unknown): string }

/** The problems of a value that is not a request body, as sentences. `naming` decides how they name its members. */
export const problemsOf = (issues: readonly Issue[], value: unknown, naming: Naming): string[] =>
  describe(tellingOf(issues.map((issue) => ({ ...issue, path: issue.path.split('.') }))), value, naming).map(
    ({ message }) => message,
  )

/** Drops findings about forbidden members, because the finding of the object already reports them. */
function tellingOf(findings: ValidationIssue[]): ValidationIssue[] {
  const telling = findings.filter(({ keyword }) => keyword !== 'boolean')
  return (telling.length ? telling : findings).slice(0, 200)
}

function describe(findings: ValidationIssue[], value: unknown, naming: Naming = OF_BODY): ErrorDetail[] {
  const byPath = new Map<string, ValidationIssue[]>()
  for (const validationIssue of findings) {
    const { path } = memberAt(value, validationIssue.path)
    byPath.set(path, [...(byPath.get(path) ?? []), validationIssue])
  }
  return [...byPath].flatMap(([path, found]) => explain(path, found, memberAt(value, found[0]!.path).member, naming))
}

function explain(path: string, found: ValidationIssue[], value: unknown, { nameOf, shownAt }: Naming): ErrorDetail[] {
  // The value has the type of one alternative and exceeds its limit, so the limit is the useful thing to report.
  const limit = found.find(({ keyword }) => LIMITS.has(keyword))
  if (limit) return [{ path, message: `${nameOf(path)} ${sentence(limit, value, shownAt(path, value))}.` }]
  if (found.some((validationIssue) => validationIssue.keyword === 'anyOf')) {
    return [{ path, message: `${nameOf(path)} is ${shownAt(path, value)}; ${alternatives(found)}.` }]
  }
  const [first] = found
  if (first?.keyword !== 'required')
    return [{ path, message: `${nameOf(path)} ${sentence(first!, value, shownAt(path, value))}.` }]
  const missing = first.params.requiredProperties as string[]
  const known = (first.params.allowed as string[] | undefined) ?? missing
  const unknown = Object.keys(value ?? {}).filter((member) => !known.includes(member))
  return missing.map((member) => {
    const full = path ? `${path}.${member}` : member
    const suggestion = nearest(member, unknown)
    const meant =
      suggestion === null
        ? (EXAMPLES[full] ?? '')
        : ` ${messageOf(suggestion)} is not a member; did you mean "${member}"?`
    return { path: full, message: `${nameOf(full)} is missing.${meant}` }
  })
}

/** Examples for members that first calls often forget (docs/operating.md 6.3). */
const EXAMPLES: Record<string, string> = {
  prompt: ' Send a non-empty string, for example {"prompt":"Hello"}.',
  messages: ' Send a list, for example {"messages":[{"role":"user","content":"Hello"}]}.',
}

const LIMITS = new Set(
  'minimum exclusiveMinimum maximum minLength maxLength minItems maxItems pattern format'.split(' '),
)

/** Members whose value is never repeated in an error message (docs/promises.md I25). */
export const SECRET_MEMBER = /password|secret|token$|api_?key|authorization/i

const shownAt = (path: string, value: unknown): string => {
  // Stands for a request without a body, which is not a value.
  if (typeof value === 'symbol') return 'missing'
  return SECRET_MEMBER.test(path) ? 'not shown here' : messageOf(value ?? null)
}

const ARTICLES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

const FORMATS: Record<string, string> = {
  email: 'an e-mail address, such as ada@example.com',
  'date-time': 'a time with its zone, such as 2026-01-31T12:00:00Z',
}

/** The schema pattern of strings that must not be blank. */
const NOT_BLANK = '\\S'

/** Uses the pattern's description if it has one. Shows a short pattern. A long one would not help the reader. */
function wantedForm(pattern: string): string {
  const words = wordsOf(pattern)
  if (words) return `; it must be ${words}`
  return `, which does not have the right form${pattern.length <= 48 ? `: ${pattern}` : ''}`
}

function sentence({ keyword, params, message }: ValidationIssue, value: unknown, shown: string): string {
  const limit = params.limit as number
  switch (keyword) {
    case 'type':
      if (params.allowedValues) return `is ${shown}. Use ${listed(params.allowedValues as unknown[])}`
      if (params.range)
        return `is ${shown}; it must be ${ARTICLES[params.type as string]} between ${(params.range as [number, number]).join(' and ')}`
      return `is ${shown}; it must be ${ARTICLES[params.type as string] ?? params.type}`
    case 'enum':
      return `is ${shown}. Use ${listed(params.allowedValues as unknown[])}`
    case 'minimum':
    case 'maximum':
      if (params.range) return `is ${shown}; it must be between ${(params.range as [number, number]).join(' and ')}`
      return keyword === 'minimum'
        ? `is ${shown}; the smallest value is ${limit}`
        : `is ${shown}; the largest value is ${limit}`
    case 'exclusiveMinimum':
      return `is ${shown}; it must be greater than ${limit}`
    case 'minLength':
      if (limit === 1) return 'is empty'
      return `has ${lengthOf(value)} ${lengthOf(value) === 1 ? 'character' : 'characters'}; at least ${limit} are needed`
    case 'maxLength':
      return `has ${lengthOf(value)} characters; at most ${limit} are allowed`
    case 'minItems':
      return limit === 1 ? 'is empty; it needs at least one entry' : `needs at least ${limit} entries`
    case 'maxItems':
      return `has ${lengthOf(value)} entries; at most ${limit} are allowed`
    case 'maxProperties':
      return `has too many members; at most ${limit} are allowed`
    case 'pattern':
      return String(params.pattern) === NOT_BLANK ? 'is blank' : `is ${shown}${wantedForm(String(params.pattern))}`
    case 'format':
      return `is ${shown}; it must be ${FORMATS[params.format as string] ?? `a ${params.format}`}`
    case 'additionalProperties':
      return strangers(params)
    default:
      return message
  }
}

/** Longer lists of names do not help the reader. */
const [MAX_STRANGERS, MAX_ALLOWED] = [3, 20]

function strangers({ additionalProperties: names, allowed }: ValidationIssue['params']): string {
  const shown = (names as string[]).slice(0, MAX_STRANGERS).map(messageOf)
  const known = allowed as string[] | undefined
  if (!known) return `has the member ${either(shown)}, whose name does not have the right form`
  const help = known.length && known.length <= MAX_ALLOWED ? `; its members are ${known.join(', ')}` : ''
  return `has no member ${either(shown)}${help}`
}

function alternatives(found: ValidationIssue[]): string {
  const words = found.flatMap(({ keyword, params }) =>
    keyword === 'const' ? [params.allowedValue] : ((params.allowedValues as unknown[] | undefined) ?? []),
  )
  const types = found
    .filter(
      (validationIssue) =>
        validationIssue.keyword === 'type' && !(words.length && validationIssue.params.type === 'string'),
    )
    .map((validationIssue) => ARTICLES[validationIssue.params.type as string] ?? String(validationIssue.params.type))
  const forms = [...new Set([...words.map((word) => `"${word}"`), ...types])]
  return forms.length ? `it must be ${either(forms)}` : 'it has none of the accepted forms'
}

const listed = (words: unknown[]): string => either(words.map(String))

const either = (words: string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** Twice the longest text limit. Counting this much takes a few milliseconds. */
const MAX_COUNTED = 2_100_000

/** Number of entries, or of characters as limits count them. For very long texts, the number of UTF-16 units. */
function lengthOf(value: unknown): number {
  const length = (value as { length?: number } | null)?.length ?? 0
  return typeof value !== 'string' || length > MAX_COUNTED ? length : charactersIn(value)
}

const OF_BODY: Naming = { nameOf: (path) => (path ? `"${path}"` : 'The body'), shownAt }

const MAX_WORDS = 8

/** The member at a path, and the path as in code: `messages[2].content`. */
function memberAt(value: unknown, parts: string[]): { path: string; member: unknown } {
  let [path, member] = ['', value]
  for (let rest = parts.filter((part) => part !== '').join('.'); rest; ) {
    const holder: object = typeof member === 'object' && member !== null ? member : {}
    // The name of a member can have dots itself.
    const words = rest.split('.', MAX_WORDS)
    const names = words.map((_, at) => words.slice(0, at + 1).join('.'))
    const name = names.find((one) => Object.hasOwn(holder, one)) ?? words[0]!
    path += Array.isArray(member) ? `[${name}]` : path ? `.${name}` : name
    member = Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined
    rest = rest.slice(name.length + 1)
  }
  return { path, member }
}
