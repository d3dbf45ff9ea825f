import { messageOf } from './errors'
import { parsedJson } from './json'
import { nearest } from './nearest'
import { checker, type Static, type TSchema } from './schema'
import { withoutUserInfo } from './text'
import { problemsOf, SECRET_MEMBER } from './validation'

/** One setting, declared together with its documentation in the module that uses it (docs/design.md 10). */
export type Setting<T extends TSchema = TSchema> = {
  /** Environment variable, `SVC_…`. */
  env: string
  schema: T
  default: Static<T>
  /** One sentence that `config explain` shows. */
  about: string
  /** The value is never printed. */
  secret?: boolean
}

export const setting = <T extends TSchema>(declared: Setting<T>): Setting<T> => declared

export type Settings = Record<string, Setting>
export type Values<S extends Settings> = { readonly [K in keyof S]: Static<S[K]['schema']> }
export type Origin = 'environment' | 'file' | 'user file' | 'default'
export type Resolved<S extends Settings> = { values: Values<S>; origins: { [K in keyof S]: Origin } }

export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(
    readonly problems: string[],
    cause?: unknown,
  ) {
    super(problems.join('\n'), { cause })
  }
}

/**
 * Takes each setting from the environment, else from the file, else its default. Reports all problems at once, each
 * with the setting, its value and its origin.
 * @throws ConfigError
 */
export function resolveSettings<S extends Settings>(
  settings: S,
  env: Record<string, string | undefined>,
  file: Record<string, unknown>,
): Resolved<S> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const origins: Record<string, Origin> = {}
  for (const [name, declared] of Object.entries(settings)) {
    const rawValue = env[declared.env]
    const fromEnv = rawValue !== undefined && rawValue !== ''
    origins[name] = fromEnv ? 'environment' : name in file ? 'file' : 'default'
    const value = fromEnv ? readWord(declared.schema, rawValue) : name in file ? file[name] : declared.default
    const where = fromEnv ? declared.env : `"${name}" in svc.server.json`
    if (value !== declared.default) problems.push(...wrongWith(declared, value, where, fromEnv))
    values[name] = value
  }
  for (const name of Object.keys(file)) {
    if (name in settings) continue
    const meant = nearest(name, Object.keys(settings))
    const help = meant ? `Did you mean "${meant}"?` : 'svc-admin config list shows all.'
    problems.push(`"${name}" in svc.server.json is not a setting. ${help}`)
  }
  if (problems.length) throw new ConfigError(problems)
  return { values: values as Values<S>, origins: origins as Resolved<S>['origins'] }
}

/** The problems of a setting's value, as sentences. `where` names the setting for its reader. */
function wrongWith({ schema, secret, about }: Setting, value: unknown, where: string, fromEnv: boolean) {
  const issues = checker(schema).issues(value)
  if (fromEnv && typeof value === 'string' && (schema as { type?: string }).type === 'object')
    return [`${where} is not valid JSON; it must be an object, such as {"name": value}. ${about}`]
  const shownAt = (path: string, part: unknown): string => {
    if (secret || SECRET_MEMBER.test(path)) return 'set to a value that is not shown'
    if (part !== null && typeof part === 'object') return Array.isArray(part) ? 'a list' : 'an object'
    return withoutUserInfo(messageOf(part ?? null))
  }
  const nameOf = (path: string): string => (path ? `${where}: "${path}"` : where)
  return problemsOf(issues, value, { nameOf, shownAt })
    .slice(0, MAX_PROBLEMS)
    .map((problem) => `${problem} ${about}`)
}

/** Maximum problems per setting. Hundreds would hide the other settings. */
const MAX_PROBLEMS = 5

const SWITCH = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
])

/** Converts an environment variable to the type of its schema. Text that does not convert is left to the check. */
export function readWord(schema: TSchema, word: string): unknown {
  const { type, anyOf } = schema as { type?: string; anyOf?: { type?: string }[] }
  // A union with booleans also has words of its own, such as "auto".
  if (anyOf?.some((one) => one.type === 'boolean')) return SWITCH.get(word.toLowerCase()) ?? word
  if (type === 'boolean') return SWITCH.get(word.toLowerCase()) ?? word
  if (type === 'string') return word
  const value = parsedJson(word)
  return value === undefined ? word : value
}
