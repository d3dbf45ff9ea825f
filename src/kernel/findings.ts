/** One thing a schema found wrong, where, and with which limit. */
export type Issue = { path: string; message: string; keyword: string; params: Record<string, unknown> }

/** A schema, as far as finding one's way in it goes. */
type Shape = {
  properties?: Record<string, Shape>
  required?: readonly string[]
  items?: Shape
  maxItems?: number
  anyOf?: readonly Shape[]
  type?: string
  const?: unknown
  enum?: readonly unknown[]
}

/** How one schema, whole or a part of another, is asked. */
export type Asking = {
  /** Compiled: as fast as the value is large. */
  fits(schema: object, value: unknown): boolean
  /** Names every problem, and looks at each member slowly. */
  explain(schema: object, value: unknown): Issue[]
}

/** Members that may be explained at once; more would hold the event loop for longer than a stranger may (I28). */
const MOST_EXPLAINED = 300
const MOST_ENTRIES = 10

/**
 * What is wrong with a value that does not fit. Of alternatives only the one that was meant is spoken of.
 * A small value is explained whole; a large one is first narrowed down, by asking part by part, to the
 * members that are wrong.
 */
export function findIssues(schema: object, value: unknown, asking: Asking, path = ''): Issue[] {
  const shape = schema as Shape
  const meant = shape.anyOf && typeof value === 'object' && value !== null ? meantOf(shape.anyOf, value) : undefined
  if (meant && 'issue' in meant) return [{ ...meant.issue, path: join(path, meant.issue.path) }]
  if (meant) return findIssues(meant.branch, value, asking, path)
  if (isSmall(value)) return inSmall(shape, value, asking, path)
  if (shape.type === 'array' && Array.isArray(value)) return inEntries(shape, value, asking, path)
  if (shape.properties && !Array.isArray(value)) return inMembers(shape, value as Record<string, unknown>, asking, path)
  return [{ path, keyword: 'large', message: 'does not have the accepted form', params: {} }]
}

function inSmall(shape: Shape, value: unknown, asking: Asking, path: string): Issue[] {
  const all = asking.explain(shape, value)
  const isList = shape.type === 'array' && Array.isArray(value)
  const isRecord = shape.properties && typeof value === 'object' && value !== null && !Array.isArray(value)
  // Where alternatives lie below, they are gone into one by one, and only this level is taken from the whole.
  if (!(isList || isRecord) || !all.some(({ keyword }) => keyword === 'anyOf')) {
    return all.map((issue) => ({ ...issue, path: join(path, issue.path) }))
  }
  const own = all.filter((issue) => issue.path === '').map((issue) => ({ ...issue, path }))
  if (isList) return [...own, ...inEntries({ ...(shape.items ? { items: shape.items } : {}) }, value, asking, path)]
  const below = inMembers({ properties: shape.properties! }, value as Record<string, unknown>, asking, path)
  return [...own, ...below]
}

function inMembers(shape: Shape, value: Record<string, unknown>, asking: Asking, path: string): Issue[] {
  const requiredProperties = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name))
  const missing = { path, keyword: 'required', message: 'lacks a member', params: { requiredProperties } }
  const wrong = Object.entries(shape.properties!).flatMap(([name, member]) =>
    !Object.hasOwn(value, name) || asking.fits(member, value[name])
      ? []
      : findIssues(member, value[name], asking, join(path, name)),
  )
  return requiredProperties.length ? [missing, ...wrong] : wrong
}

function inEntries({ items, maxItems }: Shape, value: unknown[], asking: Asking, path: string): Issue[] {
  if (maxItems !== undefined && value.length > maxItems) {
    return [{ path, keyword: 'maxItems', message: `has more than ${maxItems} entries`, params: { limit: maxItems } }]
  }
  const issues: Issue[] = []
  for (let at = 0; items && at < value.length && issues.length < MOST_ENTRIES; at++) {
    if (!asking.fits(items, value[at])) issues.push(...findIssues(items, value[at], asking, join(path, String(at))))
  }
  return issues
}

/** The alternative a value was meant for, or what keeps one from knowing it; undefined when nothing tells. */
function meantOf(branches: readonly Shape[], value: object): { branch: Shape } | { issue: Issue } | undefined {
  const flat = (some: readonly Shape[]): readonly Shape[] =>
    some.flatMap((one) => (one.anyOf ? flat(one.anyOf) : [one]))
  const found = flat(branches).filter(({ type }) => type === (Array.isArray(value) ? 'array' : 'object'))
  if (found.length < 2) return found[0] && { branch: found[0] }
  // Alternatives of one kind are told apart by a member that has one word in each.
  const tag = Object.keys(found[0]!.properties ?? {}).find((name) =>
    found.every((one) => wordOf(one, name) !== undefined),
  )
  if (tag === undefined) return undefined
  const said = (value as Record<string, unknown>)[tag]
  const branch = found.find((one) => wordOf(one, tag) === said)
  if (branch) return { branch }
  if (said === undefined) {
    return {
      issue: { path: '', keyword: 'required', message: 'lacks a member', params: { requiredProperties: [tag] } },
    }
  }
  const allowedValues = found.map((one) => wordOf(one, tag))
  return { issue: { path: tag, keyword: 'enum', message: 'is none of the words', params: { allowedValues } } }
}

function wordOf({ properties }: Shape, name: string): unknown {
  const member = properties?.[name]
  return member?.const ?? (member?.enum?.length === 1 ? member.enum[0] : undefined)
}

/** Whether it has few members, all levels together; stops counting when it has not. */
export function isSmall(value: unknown): boolean {
  let left = MOST_EXPLAINED
  const count = (part: unknown): void => {
    left -= 1
    if (left < 0 || part === null || typeof part !== 'object') return
    // Not `Object.values`: it would copy a list of a hundred thousand to look at a few.
    if (Array.isArray(part)) for (let at = 0; at < part.length && left >= 0; at++) count(part[at])
    else for (const name in part) if (left >= 0) count((part as Record<string, unknown>)[name])
  }
  count(value)
  return left >= 0
}

const join = (path: string, rest: string): string => (path && rest ? `${path}.${rest}` : path || rest)
