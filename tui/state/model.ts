import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { TopicRow } from '../../src/operators/topics-schema'
import type { Line } from '../draw/line'
import { KEYMAP, type Keymap } from '../keymap'

/** Events that change the model. */
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

/** How to handle a command's output. */
type RunAs = 'shown' | 'told' | 'secret' | 'reply' | 'draft'

/** Actions for the program after a change of the model. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'reconnect' }
  | { type: 'copy'; text: string }
  | { type: 'bell' }
  | { type: 'read'; name: string; path: string }
  /** Like `read`, for the row on which the cursor rests. */
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
/** A row of a screen, in the server's format. */
export type RowOf<Name extends Screen> = Row & TopicRow<Name>
export const rowsOf = <Name extends Screen>({ topics }: Pick<Model, 'topics'>, name: Name) =>
  (topics[name]?.rows ?? []) as readonly RowOf<Name>[]
export type Facts = Readonly<Record<string, unknown>>
/** The state of one topic. Its strings are clean, because the store accepts no others. */
export type TopicData = { rows: readonly Row[]; facts: Facts; seq: number; at: string; trouble: string | null }

export type ListState = {
  /** Null selects the first row. */
  chosen: string | null
  /** Rows between the first one shown and the selected one, so that nothing moves under the cursor. */
  offset: number
  marked: readonly string[]
  filter: string
  /** Index of one of the screen's columns. Null keeps the server's order. */
  sort: { column: number; descending: boolean } | null
  /** New rows above the list since the user left it. */
  arrived: number
}

type Link = {
  state: 'connecting' | 'live' | 'polling' | 'offline'
  /** Epoch ms. */
  since: number
  /** When the last data arrived. */
  heardAt: number
  problem: string
  tries: number
  nextTryAt: number
}

/** A confirmation before a change. `argv` are the command lines that it runs. */
export type Dialog = {
  title: string
  about: readonly string[]
  argv: readonly (readonly string[])[]
  verb: string
  /** An input field. Its text goes to the flag, or replaces `$` in the command line. */
  field: { label: string; flag: string | null; text: string; required: boolean } | null
  focus: 'field' | 'cancel' | 'go'
  /** The answer holds a secret that is shown once. */
  secret?: boolean
}

/** A choice among a few names: an owner whose rows are shown, or a profile to continue with. */
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
  /** Version of this tool. A server of another release line is read-only. */
  version: string
  production: boolean
  operator: string
  /** Other profiles of this user. */
  profiles: readonly string[]
  /** Flags that make the commands reach the same server. */
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
  /** Role of this operator. Empty before the server has reported it. */
  role: string
  /** Identifies the chats that this operator has taken. */
  holder: string
  paused: boolean
  /** Seconds between repaints of changes. */
  rate: number
  link: Link
  topics: Readonly<Partial<Record<TopicName, TopicData>>>
  lists: Readonly<Record<Screen, ListState>>
  mode: Mode
  /** The pane in which the arrows move, and the scroll position of panes other than the list. */
  pane: number
  scroll: number
  /** Breaks long lines of the details instead of cutting them. */
  wrap: boolean
  commands: readonly PaletteCommand[]
  keymap: Keymap
  messages: readonly { at: number; text: string }[]
  filters: readonly string[]
  /** What was loaded for single rows: the chat of a session, a submission with its diff. */
  details: Details
  /** Saved replies, by name. */
  replies: ReadonlyMap<string, string>
  /** Unsent texts to visitors, by session. */
  drafts: Readonly<Record<string, string>>
  /** An open submission, and the part of it that is shown. */
  review: { id: string; part: string; top: number; opened: readonly string[]; split: boolean } | null
  /** Hides logs from before this time. */
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

/** Rows per list that a server sends by default, and the maximum for filtering. */
const [FEW, MANY] = [200, 2_000]

/** While a filter searches a truncated list, requests its full length (docs/operating.md 3.4). */
export function topicRequestOf(model: Model) {
  const { filter } = model.lists[model.screen]
  const isLong = (model.topics[model.screen]?.rows.length ?? 0) >= FEW
  return { topics: topicsOf(model), max: filter && isLong ? MANY : null }
}

/** The topics to request: those of the tab counts, and of the open screen. */
export const topicsOf = ({ screen }: Pick<Model, 'screen'>): TopicName[] =>
  screen === 'overview' ? ['overview', 'jobs', 'browser', 'deliveries'] : ['overview', screen]
