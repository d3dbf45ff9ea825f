/** The nouns of svc-admin whose `create -f` and `update -f` take the body of the API, by the path of their list. */
export const FILE_NOUNS: Record<string, string> = {
  '/workflows': 'workflows',
  '/evi/canvases': 'canvases',
  '/guardrail-policies': 'guardrails',
  '/routing-preferences': 'routing',
  '/iframes': 'widgets',
  '/test-cases': 'tests',
  '/views': 'views',
}

/**
 * The flag of a member: `c` and `m` are units of its number, `each` repeats the flag for each item, `unless` sets it for
 * false. `stdin` has the member in a file. Null: the words for the owner say it.
 */
type Spelling = string | readonly [flag: string, how: 'c' | 'm' | 'each' | 'unless' | 'stdin'] | null

type Noun = {
  create: string
  update?: string
  /** The words for whose a new item is. */
  ownerWords(kind: string, id: string): readonly string[]
  /** The member that is an argument of `create`. */
  argument?: string
  members: Readonly<Record<string, Spelling>>
  /** The flag for a new item without the member that is read from stdin. */
  without?: string
}

const isRead = (spelling?: Spelling) => Array.isArray(spelling) && spelling[1] === 'stdin'
const byOrg = (kind: string, id: string) => ['--org', `${kind}:${id}`]

/** The nouns whose commands have a flag for each member, by the path of their list. */
export const FLAG_NOUNS: Readonly<Record<string, Noun>> = {
  '/keys': {
    create: 'keys create',
    update: 'keys update',
    ownerWords: (kind, id) => (kind === 'org' ? ['--org', id] : ['--user', id, '--personal']),
    members: {
      ...{ name: 'name', scopes: 'scopes', rpm_limit: 'rpm', tpm_limit: 'tpm', chat_parameters: 'chat-parameters' },
      ...{ monthly_cap_cents: ['monthly-cap', 'c'], daily_cap_cents: ['daily-cap', 'c'] },
      ...{ expires_at: 'expires', allowed_origins: ['origin', 'each'], scope: null, org_id: null },
    },
  },
  '/webhooks': {
    create: 'webhooks create',
    ownerWords: byOrg,
    argument: 'url',
    members: { event_types: 'events', description: 'description', ordered: 'ordered' },
  },
  '/hooks': {
    create: 'hooks install',
    update: 'hooks update',
    ownerWords: byOrg,
    members: {
      ...{ hook_preset_id: 'preset', event_pattern: 'pattern', skill_slug: 'skill', name: 'name' },
      ...{ cooldown_minutes: ['cooldown', 'm'], config: ['file', 'stdin'] },
    },
  },
  '/engines': {
    create: 'engines add',
    update: 'engines update',
    ownerWords: () => [],
    argument: 'name',
    members: {
      ...{ kind: 'kind', base_url: 'base-url', models: 'models' },
      ...{ api_key: ['from-file', 'stdin'], test: ['no-test', 'unless'] },
    },
    without: 'no-key',
  },
}

/** A text as one word of a shell. Single quotes keep everything as it is. */
const quoted = (text: string): string => (/^[\w@:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** A body as one word of a shell. */
export const shellWord = (body: unknown): string => quoted(typeof body === 'string' ? body : JSON.stringify(body))

const piped = (input: unknown, command: string) => `printf %s ${shellWord(input)} |\n  ${command}`

function flagsOf(spelling: Spelling, value: unknown, isChange: boolean): string[] {
  if (spelling === null) return []
  const [name, how] = typeof spelling === 'string' ? [spelling] : spelling
  const flag = `--${name}`
  if (how === 'stdin') return [flag, '-']
  if (typeof value === 'boolean') return value === (how !== 'unless') ? [flag] : []
  const all = how === 'each' ? (value as string[]) : []
  if (value === null || (how === 'each' && all.length === 0)) return isChange ? [flag, 'none'] : []
  return how === 'each' ? all.flatMap((one) => [flag, one]) : [flag, `${value}${how ?? ''}`]
}

/** The command that does the same as a call, if there is one. `owner` is whose a new item is, such as `user:ID`. */
export function commandOf(method: string, path: string, owner: string, body: Record<string, unknown>): string | null {
  const at = path.lastIndexOf('/')
  const isNew = method === 'POST'
  if (!isNew && method !== 'PATCH') return null
  const [list, id] = isNew ? [path] : [path.slice(0, at), path.slice(at + 1)]
  const file = FILE_NOUNS[list!]
  if (file) return piped(body, `svc-admin ${file} ${isNew ? `create --org ${owner}` : `update ${id}`} -f -`)
  const noun = FLAG_NOUNS[list!]
  const verb = isNew ? noun?.create : noun?.update
  if (!noun || !verb) return null
  const { argument = '', members, ownerWords, without } = noun
  const given = Object.entries(body).filter(([name, value]) => value !== undefined && !(isNew && name === argument))
  if (given.some(([name]) => members[name] === undefined)) return null
  const [kind = '', whose = ''] = owner.split(':')
  const read = given.find(([name]) => isRead(members[name]))
  const words = [
    ...(isNew ? [...(argument ? [String(body[argument] ?? '')] : []), ...ownerWords(kind, whose)] : [id!]),
    ...given.flatMap(([name, value]) => flagsOf(members[name]!, value, !isNew)),
    ...(isNew && !read && without ? [`--${without}`] : []),
  ]
  const command = ['svc-admin', verb, ...words.map(quoted)].join(' ')
  return read ? piped(read[1], command) : command
}
