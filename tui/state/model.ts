import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { TopicRow } from '../../src/operators/topics-schema'
import type { Line } from '../draw/line'
import { KEYMAP, type Keymap } from '../keymap'

/** What may happen to the model. */
export type Event =
  | { type: 'key'; key: string; text: string }
  | { type: 'pasted'; text: string }
  | { type: 'ticked'; now: number }
  | { type: 'resized'; columns: number; rows: number }
  | { type: 'streamed'; events: readonly StreamEvent[] }
  | { type: 'polled'; topics: readonly { topic: TopicName; facts: object; rows: object[]; at: string }[] }
  | { type: 'linked'; state: 'live' | 'polling' }
  | { type: 'lost'; problem: string; tries: number; nextTryAt: number }
  | { type: 'read'; name: string; value: unknown; problem: string | null }
  | { type: 'ran'; argv: readonly string[]; exitCode: number; out: string; err: string; as: RunAs }
  | { type: 'said'; text: string }
  | { type: 'went'; screen: Screen }

/** What becomes of a command's output. */
type RunAs = 'shown' | 'told' | 'secret' | 'reply' | 'draft'

/** What the program does after a change of the model. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'reconnect' }
  | { type: 'copy'; text: string }
  | { type: 'bell' }
  | { type: 'read'; name: string; path: string }
  /** As `read`, for the row on which the cursor comes to rest. */
  | { type: 'look'; path: string }
  | { type: 'run'; argv: readonly string[]; as: RunAs; write: boolean }
  | { type: 'save'; text: string }
  | { type: 'profile'; name: string }

export const SCREENS = [
  'overview',
  'jobs',
  'deliveries',
  'takeovers',
  'submissions',
  'browser',
  'keys',
  'audit',
  'logs',
] as const satisfies readonly TopicName[]
export type Screen = (typeof SCREENS)[number]

export type Row = Readonly<Record<string, unknown>> & { id: string }
/** A row of a screen, as the server makes it. */
export type RowOf<Name extends Screen> = Row & TopicRow<Name>
export const rowsOf = <Name extends Screen>({ topics }: Pick<Model, 'topics'>, name: Name) =>
  (topics[name]?.rows ?? []) as readonly RowOf<Name>[]
export type Facts = Readonly<Record<string, unknown>>
/** What is known of one topic. Its strings are clean: the store takes no others. */
export type TopicData = { rows: readonly Row[]; facts: Facts; seq: number; at: string; trouble: string | null }

export type ListState = {
  /** Null follows the first row. */
  chosen: string | null
  /** Rows of the screen between the first one shown and the chosen one, so that nothing moves under the cursor. */
  offset: number
  marked: readonly string[]
  filter: string
  /** Of the screen's columns; null is the server's order. */
  sort: { column: number; descending: boolean } | null
  /** Rows that came in above since the list was left. */
  arrived: number
}

type Link = {
  state: 'connecting' | 'live' | 'polling' | 'offline'
  /** Epoch ms. */
  since: number
  /** When something came last. */
  heardAt: number
  problem: string
  tries: number
  nextTryAt: number
}

/** A question before a change; `argv` are the command lines that it stands for. */
export type Dialog = {
  title: string
  about: readonly string[]
  argv: readonly (readonly string[])[]
  verb: string
  /** A text that is asked for: its flag, or the place of `$` in the command line. */
  field: { label: string; flag: string | null; text: string; required: boolean } | null
  focus: 'field' | 'cancel' | 'go'
  /** The answer holds a secret that is shown once. */
  secret?: boolean
}

/** One of a few: an owner whose rows are shown, a profile to go on with. */
export type Picker = { what: 'owner' | 'profile'; title: string; names: readonly string[] }

type Mode =
  | { type: 'browse' }
  | { type: 'filter'; draft: string; past: number }
  | { type: 'palette'; draft: string; at: number }
  | { type: 'help' }
  | { type: 'messages' }
  | { type: 'dialog'; dialog: Dialog }
  | { type: 'output'; title: string; lines: readonly string[]; top: number }
  | { type: 'secret'; title: string; secret: string; about: readonly string[]; saved: boolean; asking: boolean }
  | { type: 'write'; sending: boolean; failed: string | null }
  | { type: 'pick'; picker: Picker; at: number }

/** A command of `svc-admin`, for the palette. */
export type PaletteCommand = { path: string; args: string; summary: string; writes: boolean }

export type Where = {
  /** Name of the profile, or how the server is reached. */
  name: string
  address: string
  /** Of this tool; a server of another line is only read. */
  version: string
  production: boolean
  operator: string
  /** Other profiles of this user. */
  profiles: readonly string[]
  /** Flags that reach the same server, for the commands that are run. */
  flags: readonly string[]
}

export type Options = {
  color: boolean
  ascii: boolean
  motion: boolean
  bell: boolean
  screenReader: boolean
}

type Details = Readonly<Record<string, { value: unknown; at: number; problem: string | null }>>

export type Model = {
  screen: Screen
  columns: number
  rows: number
  /** Epoch ms. */
  now: number
  where: Where
  options: Options
  canWrite: boolean
  /** Of this operator; empty before the server has said it. */
  role: string
  /** By which the chats that this operator has taken are known. */
  holder: string
  paused: boolean
  /** Seconds between repaints of what changed. */
  rate: number
  link: Link
  topics: Readonly<Partial<Record<TopicName, TopicData>>>
  lists: Readonly<Record<Screen, ListState>>
  mode: Mode
  /** Which part of the screen the arrows move in, and how far another one than the list is scrolled. */
  pane: number
  scroll: number
  /** Long lines of the details are broken instead of cut. */
  wrap: boolean
  commands: readonly PaletteCommand[]
  keymap: Keymap
  messages: readonly { at: number; text: string }[]
  filters: readonly string[]
  /** What was read for one row: the chat of a session, a submission with its diff. */
  details: Details
  /** Saved replies, by the name that brings them. */
  replies: ReadonlyMap<string, string>
  /** What is written to visitors and not sent yet, by session. */
  drafts: Readonly<Record<string, string>>
  /** An open submission, and which part of it is shown. */
  review: { id: string; part: string; top: number; opened: readonly string[]; split: boolean } | null
  /** Logs from before are not shown. */
  clearedAt: string | null
}

/** A picture of one moment: exactly as many lines as the window has rows. */
export type Picture = readonly Line[]

const LIST: ListState = { chosen: null, offset: 0, marked: [], filter: '', sort: null, arrived: 0 }

type Start = Pick<Model, 'where' | 'options' | 'commands' | 'now' | 'columns' | 'rows' | 'canWrite' | 'screen'> & {
  keymap?: Keymap
  rate?: number
  replies?: ReadonlyMap<string, string>
}

export const startModel = (start: Start): Model => ({
  keymap: KEYMAP,
  rate: 1,
  replies: new Map(),
  ...start,
  role: '',
  holder: '',
  paused: false,
  link: { state: 'connecting', since: start.now, heardAt: start.now, problem: '', tries: 0, nextTryAt: 0 },
  topics: {},
  lists: Object.fromEntries(SCREENS.map((screen) => [screen, LIST])) as Model['lists'],
  mode: { type: 'browse' },
  pane: 0,
  scroll: 0,
  wrap: true,
  messages: [],
  filters: [],
  details: {},
  drafts: {},
  review: null,
  clearedAt: null,
})

/** Rows that a server gives of a list by itself, and those that a filter looks through. */
const [FEW, MANY] = [200, 2_000]

/** A list that is cut is asked for at its full length while a filter looks through it (docs/operating.md 3.4). */
export function wantedOf(model: Model) {
  const { filter } = model.lists[model.screen]
  const isLong = (model.topics[model.screen]?.rows.length ?? 0) >= FEW
  return { topics: topicsOf(model), most: filter && isLong ? MANY : null }
}

/** The topics that are needed: the counts of the tabs, and what the screen shows. */
export const topicsOf = ({ screen }: Pick<Model, 'screen'>): TopicName[] =>
  screen === 'overview' ? ['overview', 'jobs', 'browser', 'deliveries'] : ['overview', screen]
