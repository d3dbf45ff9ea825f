import type { Column } from './output/columns'
import type { Shell } from './shell'

/** How a word on the command line becomes a value. `read` throws `BadWord` when the word is not one. */
export type Reading<T> = {
  about: string
  /** `before` is what an earlier use of the same flag gave. */
  read(word: string, before: T | undefined): T
}

/** A flag of one command. Its name is its key in kebab case. */
export type Flag<T = unknown> = Reading<T> & {
  /** What stands after the flag in help, `NAME`; absent for a switch. */
  value?: string
  /** For help, completion and the refusal of other words. */
  words?: readonly string[]
  /** The one-letter form, only from `-o -f -q -y -v -w -n -h`. */
  short?: string
  /** The environment variable that speaks when the flag does not. */
  env?: string
}

export type Arg<T = unknown> = Reading<T> & {
  required: boolean
  /** Takes every word that is left. */
  variadic?: boolean
}

export type Flags = Record<string, Flag>
export type Args = Record<string, Arg>

type ValueOf<R> = R extends Reading<infer T> ? T : never
export type Input<A extends Args, F extends Flags> = { [K in keyof A]: ValueOf<A[K]> } & {
  [K in keyof F]: ValueOf<F[K]>
}

/** `host` needs no server at all: files of this machine, or the server itself. */
export type Plane = 'tenant' | 'operator' | 'host'
export type Danger = 'none' | 'moderate' | 'severe' | 'secret once'

export type CommandWords = {
  /** `keys create`, or one word. */
  path: string
  summary: string
  /** Paragraphs of help. */
  about: string
  /** At least two, as they would be typed, without `svc-admin`. */
  examples: readonly string[]
  planes: readonly Plane[]
  /** Works while no server runs, by opening the app inside the command (dx 2.2). */
  offline: boolean
  /** Whether it changes anything, for people and for agents. */
  impact: 'read' | 'write'
  danger: Danger
  /** Besides 0, 1, 2 and 130. */
  exits: readonly number[]
  /** What the answer is made of, for tables and `--fields`; absent where it is not a record. */
  columns?: readonly Column[]
  /** Whether repeating it on a timer makes sense (`--watch`). */
  watchable?: boolean
}

export type Command = CommandWords & {
  args: Args
  flags: Flags
  run(shell: Shell, input: Record<string, unknown>): Promise<void>
}

type Typed<A extends Args, F extends Flags> = CommandWords & {
  args?: A
  flags?: F
  run(shell: Shell, input: Input<A, F>): Promise<void>
}

/** Declares a command once: help, parsing, completion and the machine list are made from this. */
export function defineCommand<A extends Args = Record<never, never>, F extends Flags = Record<never, never>>(
  typed: Typed<A, F>,
): Command {
  const { args, flags, run, ...words } = typed
  return { ...words, args: args ?? {}, flags: flags ?? {}, run: (shell, input) => run(shell, input as Input<A, F>) }
}

export const nounOf = ({ path }: CommandWords): string | null => (path.includes(' ') ? path.split(' ')[0]! : null)
export const verbOf = ({ path }: CommandWords): string => path.split(' ').at(-1)!
