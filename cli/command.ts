import type { OpsClient } from '../src/app/client'
import { randomBase62 } from '../src/kernel/crypto'
import { CheckFailed, EXIT, expectData, type Reply, usageFailure } from './failure'
import { type Column, KINDS } from './output/columns'
import type { MONITOR_FORMATS } from './output/print'
import { type PageQuery, type Paging, pageFlags, printPages } from './pages'
import { deliverSecret, type Fate, type Methods, SECRET_FLAGS } from './secret'
import { requireReason, type Shell } from './shell'
import type { TenantApi } from './transport'
import type { Args, Flags, Input, Words } from './words'

/** `host` needs no server: the command works on files of this machine, or is the server itself. */
type Api = 'tenant' | 'operator' | 'host'
type Danger = 'none' | 'moderate' | 'severe' | 'secret once'

export type CommandWords = {
  /** `keys create`, or a single word. */
  path: string
  summary: string
  /** Paragraphs for the help text. */
  about: string
  /** At least two examples as typed, without `svc-admin`. */
  examples: readonly string[]
  apis: readonly Api[]
  /** True if the command works without a running server, by opening the app (docs/operating.md 2.2). Default true. */
  offline: boolean
  /** Whether the command changes anything. */
  impact: 'read' | 'write'
  /** Default `none`. */
  danger: Danger
  /** Exit codes besides 0, 1, 2 and 130. Codes that any server access or change can cause are added automatically. */
  exits: readonly number[]
  /** The members of the answer, for tables and `--fields`. Absent when the answer is not a record. */
  columns?: readonly Column[]
  /** Monitoring formats that the command prints, besides the formats of every command. */
  formats?: readonly (typeof MONITOR_FORMATS)[number][]
  /** True if `--watch` repeats the command. Default: true if it reads and has an answer. */
  watchable?: boolean
}

export type Command = CommandWords & {
  args: Args
  flags: Flags
  run(shell: Shell, input: Record<string, unknown>): Promise<void>
}

/**
 * What a request may use: the API of the credential, the owner to send along, headers of a change made only once.
 * Commands with only the API `host` get just the shell, without a server.
 */
export type At = Awaited<ReturnType<typeof apiOf>> & {
  shell: Shell
  /** The operator API. Read it only in commands for operators. */
  readonly ops: OpsClient
  /** The API of the key in use. Read it only in commands for tenants only. */
  readonly client: TenantApi['client']
  headers: ReturnType<typeof onceHeaders>
  /** Paging of a list. */
  page: PageQuery
}

/** The action of a command: one request whose answer is printed, or any other code in `run`. */
type Does<Given, Found, Data> = {
  /** Requires `--reason`. */
  reason?: boolean
  /** Looks things up before the confirmation. All later members get the result in their input. Declare it first. */
  find?(shell: Shell, input: Given): Promise<Found>
  /** Describes the change: `revoke key ci`. With `--dry-run` the command only prints this. Undefined: no change. */
  action?(input: Given & Found, shell: Shell): string | undefined
  /**
   * Replaces the confirmation question made from `action`. Text that starts with a blank is appended to it instead.
   * Null skips the question.
   */
  question?: string | ((input: Given & Found, shell: Shell) => string | null | undefined)
  /** Name to type as confirmation. Null if a yes is enough. */
  named?(input: Given & Found, shell: Shell): string | null
  run?(shell: Shell, input: Given & Found): Promise<void>
  request?(at: At, input: Given & Found): Promise<Reply<Data>>
  /** Like `request`, for several requests. Without a value, nothing is printed. */
  answer?(at: At, input: Given & Found): Promise<Data>
  /** The part of the answer to print. Default: all of it. */
  shown?(answer: NonNullable<Data>, input: Given & Found, shell: Shell): object
  /** Message for an empty list. */
  empty?: string
  /** The member of the answer that holds a page of a list. Adds the paging flags. */
  paged?: string
  /** Message to print after the answer. */
  note?(answer: NonNullable<Data>, input: Given & Found, shell: Shell): string | undefined | Promise<string | undefined>
  /** The member of the answer that is a secret, or null. Adds the secret flags. Everything else is printed. */
  secret?: string | ((input: Given & Found) => string | null)
  /** The columns of an answer with a secret, if they differ. */
  secretColumns?: readonly Column[]
  /** Sentence about how the secret is stored. */
  fate?: Fate | ((input: Given & Found) => Fate | undefined)
  /** The command exits 9 if this returns false for the answer. */
  ok?(answer: NonNullable<Data>, input: Given & Found): boolean
}

type Typed<S extends Args, A extends Args, F extends Flags, Found, Data> = Partial<Omit<CommandWords, 'path'>> & {
  args?: A
  flags?: F
} & Does<Input<S & A, F>, Found, Data>

/** Of `args`, a command takes those that its first line names. */
type Shared<S> = Pick<CommandWords, 'apis'> &
  Partial<Pick<CommandWords, 'offline' | 'columns' | 'exits'>> & { args?: S }

/**
 * Declares the commands of one resource, or single-word commands with `''`. Takes their common properties, then for
 * each command a text and its action. The text is `VERB ARG (marks): summary`, a description, and examples after `$ `.
 * A single example appears again with `--json`. Marks are the APIs, the danger, `writes`, `live` (needs a running server),
 * `offline`, `watchable`, `reason` and `exits CODES`, where they differ from the default or from the common properties.
 * `shows`, `pages` and `delivers` name the member of the answer that is printed, a page of a list, or a secret.
 * Help, parsing, completion and the machine-readable list are derived from it.
 *
 * A command with an action writes, any other reads, unless declared otherwise. By default it may exit with 3, and with
 * 5 when it changes something.
 */
export const commandsOf =
  <S extends Args = Record<never, never>>(resource: string, { args: known, ...shared }: Shared<S>) =>
  (text: TemplateStringsArray, ...inserted: readonly unknown[]) =>
  <Data, A extends Args = Record<never, never>, F extends Flags = Record<never, never>, Found = unknown>(
    typed: Typed<S, A, F, Found, Data>,
  ): Command => {
    const { verb, named: own, marks, ...words } = wordsOf(String.raw({ raw: text }, ...inserted))
    const declared = { ...marksIn(marks), ...typed } as typeof typed
    const { run, reason, find, action, question, named, request, answer, ...printed } = declared
    const { shown, empty, paged, note, secret, secretColumns, fate, ok, ...rest } = printed
    const does = declared as Doing
    const { impact = action ? 'write' : 'read', apis = shared.apis, flags = {} } = rest
    const args = { ...Object.fromEntries(own.map((name) => [name, known![name]!])), ...rest.args }
    const exits = [
      ...(rest.exits ?? shared.exits ?? (impact === 'read' ? [EXIT.missing] : [EXIT.missing, EXIT.conflict])),
      ...(apis.some((api) => api !== 'host') ? [EXIT.refused, EXIT.unreachable] : []),
      ...(impact === 'write' ? [EXIT.wouldChange] : []),
    ]
    const command: Command = {
      ...words,
      path: `${resource} ${verb}`.trim(),
      offline: true,
      danger: 'none',
      watchable: impact === 'read' && !run,
      ...shared,
      ...rest,
      impact,
      args,
      // Own flags come first, and may describe the paging flags in other words.
      flags: { ...flags, ...(paged ? pageFlags : {}), ...flags, ...(secret ? SECRET_FLAGS : {}) },
      exits: exits.sort((a, b) => a - b),
      run: (shell, input) => runAction(shell, command, does, input),
    }
    return command
  }

function wordsOf(text: string) {
  const [first = '', ...lines] = text.split('\n').map((line) => line.trim())
  const [, verb = '', args = '', marks, summary = ''] = /^(\S+)((?: [A-Z]+)*)(?: \((.*?)\))?: (.*)$/.exec(first) ?? []
  const named = args.toLowerCase().split(' ').filter(Boolean)
  const [example, ...others] = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
  const about = lines.filter((line) => !line.startsWith('$ ')).join('\n')
  return {
    verb,
    named,
    marks,
    summary,
    about,
    examples: [example!, ...(others.length ? others : [`${example} --json`])],
  }
}

type Marks = { -readonly [Name in keyof CommandWords]?: CommandWords[Name] } & {
  -readonly [Name in 'reason' | 'shown' | 'paged' | 'secret']?: Doing[Name]
}
const MARKS: Readonly<Record<string, Marks>> = {
  live: { offline: false },
  offline: { offline: true },
  writes: { impact: 'write' },
  watchable: { watchable: true },
  moderate: { danger: 'moderate' },
  severe: { danger: 'severe' },
  'secret once': { danger: 'secret once' },
  reason: { reason: true },
}

/** The properties that the marks in a command's first line set: `moderate, live, exits 3 9`. */
function marksIn(marks = ''): Marks {
  const made: Marks = {}
  for (const mark of marks.split(', ').filter(Boolean)) {
    const [verb, member = ''] = mark.split(' ')
    if (mark === 'host' || mark === 'tenant' || mark === 'operator') made.apis = [...(made.apis ?? []), mark]
    else if (/^exits( \d+)*$/.test(mark)) made.exits = mark.split(' ').slice(1).map(Number)
    else if (MARKS[mark]) Object.assign(made, MARKS[mark])
    else if (verb === 'shows') made.shown = (answer) => (answer as Record<string, object>)[member]!
    else if (verb === 'pages') made.paged = member
    else if (verb === 'delivers') made.secret = member
    else throw new Error(`"${mark}" is not a mark of a command.`)
  }
  return made
}

type Doing = Does<object, object, object>

async function runAction(shell: Shell, command: Command, does: Doing, typed: object): Promise<void> {
  const { run, reason, find, request, answer, shown, empty = '', paged, note, secret, fate, ok } = does
  const { columns = [], path } = command
  if (reason) requireReason(shell, path)
  const input = await withIds(shell, command, typed as Words)
  const given = find ? { ...input, ...(await find(shell, input)) } : input
  if (!goesOn(shell, command, does, given)) return
  if (run) return run(shell, given)
  let opened: At | null = null
  const send = async (page: PageQuery) => {
    opened ??= await atOf(shell, command)
    const at = Object.assign(opened, { page })
    return answer ? answer(at, given) : expectData(await request!(at, given))
  }
  if (paged) {
    const pages = async (query: PageQuery) => {
      const found = (await send(query)) as Record<string, unknown>
      const { [paged]: items, next_cursor, next = next_cursor } = found
      return { ...found, items: (shown?.(found, given, shell) ?? items) as object[], next: next as string | null }
    }
    return printPages(shell, input as Paging, { page: pages, columns, empty })
  }
  let found: object = {}
  const make = async () => {
    found = await send(ONE)
    return shown ? shown(found, given, shell) : found
  }
  const field = typeof secret === 'function' ? secret(given) : secret
  if (field) {
    const after = typeof fate === 'function' ? fate(given) : fate
    await deliverSecret(
      shell,
      { field, methods: input as Methods, columns: does.secretColumns ?? columns, fate: after },
      make,
    )
  } else {
    const value = await make()
    if (Array.isArray(value)) shell.print.list(value, columns, empty)
    else if (value) shell.print.item(value, columns)
  }
  const line = await note?.(found, given, shell)
  if (line !== undefined) shell.note(line)
  if (ok && !ok(found, given)) throw new CheckFailed()
}

/** The input with a whole id for every word that names one. */
async function withIds(shell: Shell, { args, flags }: Command, input: Words) {
  const found: typeof input = { ...input }
  for (const [name, { idFor }] of Object.entries({ ...args, ...flags })) {
    const word = input[name]
    if (!idFor || word === undefined || word === null) continue
    found[name] = Array.isArray(word)
      ? await Promise.all(word.map((one) => idFor(shell, one, found)))
      : await idFor(shell, word, found)
  }
  return found
}

/**
 * Prints what a change would do, or asks for confirmation. Returns false for a dry run. @throws CommandFailed when
 * refused
 */
function goesOn(shell: Shell, { danger }: Command, { action, question, named }: Doing, input: object): boolean {
  const sentence = action?.(input, shell)
  if (sentence === undefined) return true
  if (shell.planned(sentence)) return false
  const other = typeof question === 'function' ? question(input, shell) : question
  if (other === null) return true
  const own = `${sentence[0]!.toUpperCase()}${sentence.slice(1)}?`
  const whole = other === undefined || other.startsWith(' ') ? own + (other ?? '') : other
  const name = named?.(input, shell) ?? null
  if (name !== null) shell.confirmName(whole, name)
  else if (danger === 'moderate' || other) shell.confirm(whole)
  return true
}

/** Page for requests that return no list. */
const ONE: PageQuery = { limit: 1 }

async function atOf(shell: Shell, { apis }: Command): Promise<At> {
  const here = { shell, headers: onceHeaders(shell), page: ONE }
  if (apis.every((api) => api === 'host')) return here as At
  const connection = await shell.connect()
  const own = !apis.includes('operator')
  const tenant = own ? await connection.tenant() : null
  return {
    ...here,
    ...(await apiOf(shell, { own })),
    ops: connection.ops(),
    client: tenant?.client as TenantApi['client'],
  }
}

export const resourceOf = ({ path }: CommandWords): string | null => (path.includes(' ') ? path.split(' ')[0]! : null)
export const verbOf = ({ path }: CommandWords): string => path.split(' ').at(-1)!

/** The routes of both APIs, with the operators' types. Tenants have no `owner`, and only see their own data. */
export type SharedRoutes = Pick<OpsClient, keyof OpsClient & keyof TenantApi['client']>

/** `own` selects the data of the key in use, even on the server's machine. `owner` defaults to `--org`. */
type OwnerFilter = { own?: boolean; owner?: string | undefined }

/** The API of the credential in use, and the owner to send. Operators name an owner. For tenants the key decides. */
export async function apiOf(shell: Shell, { own = false, owner = shell.globals.org }: OwnerFilter = {}) {
  const connection = await shell.connect()
  if (!own && connection.api === 'operator') {
    const api: SharedRoutes = connection.ops()
    return { api, isOperator: true, ownerFilter: owner === undefined ? {} : { owner } }
  }
  return { api: (await connection.tenant()).client as unknown as SharedRoutes, isOperator: false, ownerFilter: {} }
}

/** @throws CommandFailed 2 when a tenant uses flags that only operators have */
export function assertOperator(isOperator: boolean, isUsed: boolean, message: string): void {
  if (isUsed && !isOperator) throw usageFailure(message)
}

/** The query of a request, without undefined members. */
export const queryOf = (words: object): URLSearchParams =>
  new URLSearchParams(
    Object.entries(words).flatMap(([name, word]) => (word === undefined ? [] : [[name, String(word)]])),
  )

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The members that have a value. Omitted flags do not appear in a request. */
export const defined = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>

/** Headers of a change that must happen only once: the key of `--idempotency-key`, or a new one. */
export const onceHeaders = ({ globals }: Shell) => ({ 'idempotency-key': globals.idempotencyKey ?? randomBase62(24) })

export const column = (field: string, header: string, rest: Omit<Column, 'field' | 'header'> = {}): Column => ({
  field,
  header,
  ...rest,
})

/** Shows the start of an id, enough to identify it. Shows the whole id when there is room. */
export const idColumn: Column = {
  field: 'id',
  header: 'ID',
  keep: true,
  show: ({ id }, whole) => (whole ? String(id) : String(id).slice(0, 8)),
}

const OPTIONS: readonly string[] = [...KINDS, 'wide', 'keep', 'min']

/**
 * Parses columns from a comma-separated list. Each has its field, its header in capitals, its kind and its options,
 * such as `created_at CREATED time wide`. A function after them formats its cells. A field without a header is {@link
 * idColumn}.
 */
export const columnsOf = (table: TemplateStringsArray, ...shows: NonNullable<Column['show']>[]): Column[] =>
  table
    .reduce((text, more, at) => `${text}#${at - 1}${more}`)
    .split(',')
    .map((line) => {
      const [field = '', ...words] = line.trim().split(/\s+/)
      const options = words.filter((word) => OPTIONS.includes(word))
      const kind = KINDS.find((one) => options.includes(one))
      const given = options.filter((one) => one !== kind).map((one) => [one, true])
      const [, place] = /^#(\d+)$/.exec(words.at(-1) ?? '') ?? []
      const show = place && shows[Number(place)]
      const header = words.filter((word) => !OPTIONS.includes(word) && !/^#\d+$/.test(word)).join(' ')
      const named = header ? { field, header } : idColumn
      return { ...named, ...(kind ? { kind } : {}), ...Object.fromEntries(given), ...(show ? { show } : {}) }
    })
