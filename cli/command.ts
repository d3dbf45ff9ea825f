import { EXIT } from './failure'
import type { Column } from './output/columns'
import type { MONITOR_FORMATS } from './output/print'
import type { Shell } from './shell'

/** How a word of the command line becomes a value. `read` throws `BadWord` for an invalid word. */
export type Reading<T> = {
  about: string
  /** `before` is the value from an earlier use of the same flag. */
  read(word: string, before: T | undefined): T
}

/** A flag of one command. Its name is its key in kebab case. */
export type Flag<T = unknown> = Reading<T> & {
  /** Placeholder after the flag in help, `NAME`; absent for a switch. */
  value?: string
  /** The allowed words, for help, completion and error messages. */
  words?: readonly string[]
  /** The one-letter form, only from `-o -f -q -y -v -w -n -h`. */
  short?: string
  /** The environment variable used when the flag is not given. */
  env?: string
}

export type Arg<T = unknown> = Reading<T> & {
  required: boolean
  /** Takes all remaining words. */
  variadic?: boolean
}

export type Flags = Record<string, Flag>
export type Args = Record<string, Arg>

type ValueOf<R> = R extends Reading<infer T> ? T : never
export type Input<A extends Args, F extends Flags> = { [K in keyof A]: ValueOf<A[K]> } & {
  [K in keyof F]: ValueOf<F[K]>
}

/** What the flags of a command give. */
export type FlagsGiven<F extends Flags> = Input<Record<never, never>, F>

/** `host` needs no server: it works on files of this machine, or is the server itself. */
type Api = 'tenant' | 'operator' | 'host'
type Danger = 'none' | 'moderate' | 'severe' | 'secret once'

export type CommandWords = {
  /** `keys create`, or a single word. */
  path: string
  summary: string
  /** Paragraphs of help. */
  about: string
  /** At least two, as typed, without `svc-admin`. */
  examples: readonly string[]
  apis: readonly Api[]
  /** Works without a running server, by opening the app inside the command (dx 2.2); true unless said. */
  offline: boolean
  /** Whether it changes anything. */
  impact: 'read' | 'write'
  /** `none` unless said. */
  danger: Danger
  /** Exit codes besides 0, 1, 2 and 130; those of whatever reaches a server, or changes something, need no saying. */
  exits: readonly number[]
  /** The members of the answer, for tables and `--fields`; absent when the answer is not a record. */
  columns?: readonly Column[]
  /** Formats of monitors that it prints, besides those of every command. */
  formats?: readonly (typeof MONITOR_FORMATS)[number][]
  /** Whether repeating it on a timer makes sense (`--watch`). */
  watchable?: boolean
}

export type Command = CommandWords & {
  args: Args
  flags: Flags
  run(shell: Shell, input: Record<string, unknown>): Promise<void>
}

type Defaulted = 'offline' | 'danger' | 'exits'
type Declared = Omit<CommandWords, Defaulted> & Partial<Pick<CommandWords, Defaulted>>

type Typed<A extends Args, F extends Flags> = {
  args?: A
  flags?: F
  run(shell: Shell, input: Input<A, F>): Promise<void>
}

/** Declares a command; help, parsing, completion and the machine-readable list are derived from it. */
export function defineCommand<A extends Args = Record<never, never>, F extends Flags = Record<never, never>>(
  typed: Declared & Typed<A, F>,
): Command {
  const { args = {}, flags = {}, offline = true, danger = 'none', exits = [], run, ...words } = typed
  const usual = [
    ...(words.apis.some((api) => api !== 'host') ? [EXIT.refused, EXIT.unreachable] : []),
    ...(words.impact === 'write' ? [EXIT.wouldChange] : []),
  ]
  const all = [...exits, ...usual].sort((a, b) => a - b)
  return { ...words, args, flags, offline, danger, exits: all, run: (shell, input) => run(shell, input as Input<A, F>) }
}

type Shared = Pick<Declared, 'apis'> & Partial<Pick<Declared, 'offline' | 'columns'>>
type OfResource = Omit<Declared, 'path' | keyof Shared | 'impact'> & Partial<Shared> & Partial<Pick<Declared, 'impact'>>

/**
 * Declares the commands of one resource: what they have in common, then each by its verb. A command reads unless it says
 * otherwise. It may exit with 3, and with 5 when it changes something, unless it says otherwise.
 */
export const commandsOf =
  (resource: string, shared: Shared) =>
  <A extends Args = Record<never, never>, F extends Flags = Record<never, never>>(
    verb: string,
    typed: OfResource & Typed<A, F>,
  ): Command => {
    const { impact = 'read' } = typed
    const exits = impact === 'read' ? [EXIT.missing] : [EXIT.missing, EXIT.conflict]
    return defineCommand<A, F>({ ...shared, exits, ...typed, impact, path: `${resource} ${verb}` })
  }

export const resourceOf = ({ path }: CommandWords): string | null => (path.includes(' ') ? path.split(' ')[0]! : null)
export const verbOf = ({ path }: CommandWords): string => path.split(' ').at(-1)!
