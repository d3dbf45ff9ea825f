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
 * What is wrong with a value that does not fit. A small one is explained whole; a large one is first
 * narrowed down, by asking part by part, to the members that are wrong.
 */
export function findIssues(schema: object, value: unknown, asking: Asking, path = ''): Issue[] {
  if (isSmall(value)) return asking.explain(schema, value).map((issue) => ({ ...issue, path: join(path, issue.path) }))
  const shape = schema as Shape
  const branch = shape.anyOf && onlyBranchOfType(shape.anyOf, Array.isArray(value) ? 'array' : 'object')
  if (branch) return findIssues(branch, value, asking, path)
  if (shape.type === 'array' && Array.isArray(value)) return inEntries(shape, value, asking, path)
  if (shape.properties && !Array.isArray(value)) return inMembers(shape, value as Record<string, unknown>, asking, path)
  return [{ path, keyword: 'large', message: 'does not have the accepted form', params: {} }]
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

function onlyBranchOfType(branches: readonly Shape[], type: string): Shape | undefined {
  const flat = (some: readonly Shape[]): readonly Shape[] =>
    some.flatMap((one) => (one.anyOf ? flat(one.anyOf) : [one]))
  const found = flat(branches).filter((branch) => branch.type === type)
  return found.length === 1 ? found[0] : undefined
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
