/** One violation of a schema: its place, and the limit it breaks. */
export type Issue = { path: string; message: string; keyword: string; params: Record<string, unknown> }

/** The parts of a JSON schema that lead to the wrong members of a value. */
type Shape = {
  properties?: Record<string, Shape>
  required?: readonly string[]
  items?: Shape
  minItems?: number
  maxItems?: number
  anyOf?: readonly Shape[]
  additionalProperties?: boolean | Shape
  type?: string
  const?: unknown
  enum?: readonly unknown[]
}

/** How a schema, or a part of one, is applied to a value. */
export type Request = {
  /** A compiled check. Its time grows only with the size of the value. */
  fits(schema: object, value: unknown): boolean
  /** Lists every problem. Much slower, because it examines each member. */
  explain(schema: object, value: unknown): Issue[]
}

/** Maximum number of members to explain at once. More would block the event loop (docs/promises.md I28). */
const MAX_EXPLAINED = 300
const MAX_ENTRIES = 10

/**
 * The problems of a value that does not match its schema. Of alternatives (`anyOf`), only the one that the value was
 * meant for is reported. A small value is explained as a whole. A large one is first narrowed down to its wrong members
 * by checking part by part.
 */
export function findIssues(schema: object, value: unknown, request: Request, path = ''): Issue[] {
  const shape = schema as Shape
  const meant = shape.anyOf && typeof value === 'object' && value !== null ? meantOf(shape.anyOf, value) : undefined
  if (meant && 'issue' in meant) return [{ ...meant.issue, path: join(path, meant.issue.path) }]
  if (meant) return findIssues(meant.branch, value, request, path)
  if (isSmall(value)) return inSmall(shape, value, request, path)
  if (shape.type === 'array' && Array.isArray(value)) return inEntries(shape, value, request, path)
  if (shape.properties && !Array.isArray(value))
    return inMembers(shape, value as Record<string, unknown>, request, path)
  return [{ path, keyword: 'large', message: 'does not have the accepted form', params: {} }]
}

function inSmall(shape: Shape, value: unknown, request: Request, path: string): Issue[] {
  const isList = shape.type === 'array' && Array.isArray(value)
  const isRecord = shape.properties && typeof value === 'object' && value !== null && !Array.isArray(value)
  // Attackers like to trigger rejections. So compiled code checks the members, and only wrong ones are explained.
  if (isRecord && isPlain(shape, value)) return inMembers(shape, value as Record<string, unknown>, request, path)
  if (isList && isPlainList(shape, value)) return inEntries(shape, value, request, path)
  const all = request.explain(shape, value)
  // With nested alternatives, each member is examined separately. Only issues of this level are kept here.
  if (!(isList || isRecord) || !all.some(({ keyword }) => keyword === 'anyOf')) {
    return all.map((issue) => ({ ...issue, path: join(path, issue.path) }))
  }
  const own = all.filter((issue) => issue.path === '').map((issue) => ({ ...issue, path }))
  if (isList) return [...own, ...inEntries({ ...(shape.items ? { items: shape.items } : {}) }, value, request, path)]
  const below = inMembers({ properties: shape.properties! }, value as Record<string, unknown>, request, path)
  return [...own, ...below]
}

/** Keywords that restrict a record only through its members. */
const PLAIN = new Set(['type', 'properties', 'required', 'additionalProperties', '$id', 'title', 'description'])

/** True if only the members of a record can be wrong. */
function isPlain(shape: Shape, value: object): boolean {
  const { properties, additionalProperties: others = true } = shape
  if (others !== true && !(others === false && Object.keys(value).every((name) => Object.hasOwn(properties!, name))))
    return false
  return Object.keys(shape).every((keyword) => PLAIN.has(keyword))
}

const PLAIN_LIST = new Set(['type', 'items', 'minItems', 'maxItems', '$id', 'title', 'description'])

/** True if only the entries of a list can be wrong. */
function isPlainList(shape: Shape, { length }: unknown[]): boolean {
  if (!shape.items || length < (shape.minItems ?? 0) || length > (shape.maxItems ?? length)) return false
  return Object.keys(shape).every((keyword) => PLAIN_LIST.has(keyword))
}

function inMembers(shape: Shape, value: Record<string, unknown>, request: Request, path: string): Issue[] {
  const requiredProperties = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name))
  const allowed = Object.keys(shape.properties!)
  const missing = { path, keyword: 'required', message: 'lacks a member', params: { requiredProperties, allowed } }
  const wrong = Object.entries(shape.properties!).flatMap(([name, member]) =>
    !Object.hasOwn(value, name) || request.fits(member, value[name])
      ? []
      : findIssues(member, value[name], request, join(path, name)),
  )
  return requiredProperties.length ? [missing, ...wrong] : wrong
}

function inEntries({ items, maxItems }: Shape, value: unknown[], request: Request, path: string): Issue[] {
  if (maxItems !== undefined && value.length > maxItems) {
    return [{ path, keyword: 'maxItems', message: `has more than ${maxItems} entries`, params: { limit: maxItems } }]
  }
  const issues: Issue[] = []
  for (let at = 0; items && at < value.length && issues.length < MAX_ENTRIES; at++) {
    if (!request.fits(items, value[at])) issues.push(...findIssues(items, value[at], request, join(path, String(at))))
  }
  return issues
}

/** The alternative a value was meant for, or the issue with its tag. Undefined when the alternatives have no tag. */
function meantOf(branches: readonly Shape[], value: object): { branch: Shape } | { issue: Issue } | undefined {
  const flat = (some: readonly Shape[]): readonly Shape[] =>
    some.flatMap((one) => (one.anyOf ? flat(one.anyOf) : [one]))
  const found = flat(branches).filter(({ type }) => type === (Array.isArray(value) ? 'array' : 'object'))
  if (found.length < 2) return found[0] && { branch: found[0] }
  // A tag distinguishes alternatives of the same type: a member with fixed values that differ per alternative. One
  // alternative may lack it.
  const names = new Set(found.flatMap((one) => Object.keys(one.properties ?? {})))
  const tag = [...names].find((name) => {
    const words = found.map((one) => wordsOf(one, name))
    const all = words.flatMap((some) => some ?? [])
    return words.filter((some) => !some).length <= 1 && new Set(all).size === all.length
  })
  if (tag === undefined) return undefined
  const tagged = (value as Record<string, unknown>)[tag]
  const branch = found.find((one) => wordsOf(one, tag)?.includes(tagged)) ?? found.find((one) => !wordsOf(one, tag))
  if (branch) return { branch }
  if (tagged === undefined) {
    return {
      issue: { path: '', keyword: 'required', message: 'lacks a member', params: { requiredProperties: [tag] } },
    }
  }
  const allowedValues = found.flatMap((one) => wordsOf(one, tag) ?? [])
  return { issue: { path: tag, keyword: 'enum', message: 'is none of the words', params: { allowedValues } } }
}

/**
 * A value without the null members that its schema makes optional and does not accept: many clients send null for what
 * is not set. The value itself if there are none. Lists longer than allowed stay as they are.
 */
export function withoutNulls(schema: object, value: unknown, fits: Request['fits']): unknown {
  const { anyOf, items, maxItems = Number.POSITIVE_INFINITY, properties, required } = schema as Shape
  if (typeof value !== 'object' || value === null) return value
  const meant = anyOf && meantOf(anyOf, value)
  if (meant) return 'branch' in meant ? withoutNulls(meant.branch, value, fits) : value
  if (anyOf) {
    const forms = anyOf.map((form) => ({ form, left: withoutNulls(form, value, fits) }))
    return forms.find(({ form, left }) => left !== value && fits(form, left))?.left ?? value
  }
  if (Array.isArray(value)) {
    if (!items || value.length > maxItems) return value
    const left = value.map((entry) => withoutNulls(items, entry, fits))
    return left.some((entry, at) => entry !== value[at]) ? left : value
  }
  if (!properties) return value
  let isSame = true
  const left = Object.entries(value).flatMap(([name, member]) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : undefined
    const isUnset = part && member === null && !required?.includes(name) && !fits(part, null)
    const inside = part && !isUnset ? withoutNulls(part, member, fits) : member
    isSame &&= !isUnset && inside === member
    return isUnset ? [] : [[name, inside]]
  })
  return isSame ? value : Object.fromEntries(left)
}

function wordsOf({ properties }: Shape, name: string): readonly unknown[] | undefined {
  const member = properties?.[name]
  return member?.const === undefined ? member?.enum : [member.const]
}

/** True if a value has at most 300 members on all levels together. Stops counting beyond that. */
export function isSmall(value: unknown): boolean {
  let left = MAX_EXPLAINED
  const count = (part: unknown): void => {
    left -= 1
    if (left < 0 || part === null || typeof part !== 'object') return
    // `Object.values` would copy a list of a hundred thousand entries to look at a few.
    if (Array.isArray(part)) for (let at = 0; at < part.length && left >= 0; at++) count(part[at])
    else for (const name in part) if (left >= 0) count((part as Record<string, unknown>)[name])
  }
  count(value)
  return left >= 0
}

const join = (path: string, rest: string): string => (path && rest ? `${path}.${rest}` : path || rest)
