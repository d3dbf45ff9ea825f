import { meaningOf } from '../keymap'
import { LISTS } from '../screens'
import { CHAT_DIALOGS, chosenChat, readChat } from '../screens/chats'
import type { Request } from '../screens/list-view'
import { screenOfNeed } from '../screens/needs'
import { diffPath, hunksOf, type Part, submissionPath } from '../screens/submissions'
import { inMode } from './keys-modes'
import { type Model, type Picker, SCREENS, type Screen } from './model'
import { allRows, chosenAt, chosenRow, listOf, paneOf, panesOf, pickedRows, screenOfPane, shownRows } from './rows'
import { notify, refiltered, refusal, type Step, unchanged, withList, writing } from './step'

/** Handles a key, by the current mode. */
export function keyed(model: Model, key: string, text: string): Step {
  if (key === 'ctrl-c') return unchanged(model, { type: 'quit' })
  if (key === 'ctrl-z') return unchanged(model, { type: 'suspend' })
  // Ctrl-L also works while a reply is written: leaves the reply and runs the key's normal action.
  if (model.mode.type === 'write' && key === 'ctrl-l') return keyed({ ...model, mode: { type: 'browse' } }, key, text)
  if (model.mode.type === 'write' && WHILE_WRITING[key]) return inChat(model, WHILE_WRITING[key])
  if (model.mode.type === 'write' && key === 'ctrl-g') return unchanged({ ...model, mode: { type: 'help' } })
  const isReading = model.mode.type === 'help' || model.mode.type === 'messages'
  if (isReading && meaningOf(model.keymap, model.screen, key)?.does === 'screen') return global(model, 'screen', key)
  if (model.mode.type !== 'browse') return inMode(model, key, text)
  if (model.link.state === 'offline') {
    // Keys for a server that is unreachable: diagnosis, or another profile.
    if (key === 'd') return unchanged(model, { type: 'run', argv: ['doctor'], as: 'shown', write: false })
    if (key === 'p') return pick(model, { what: 'profile', title: 'continue with', names: model.where.profiles })
  }
  if (model.review && key === 'q') return back(model)
  const own = meaningOf(model.keymap, model.screen, key)
  // Outside a review, a letter with a review meaning has its global meaning.
  const meaning = own?.does.startsWith('review.') && !model.review ? meaningOf(model.keymap, 'overview', key) : own
  return meaning ? global(model, meaning.does, meaning.key) : unchanged(model)
}

/** Chords for the chat while a reply is written. The draft stays. */
const WHILE_WRITING: Readonly<Record<string, string>> = {
  'ctrl-d': 'takeovers.draft',
  'ctrl-n': 'takeovers.note',
  'ctrl-t': 'takeovers.hand',
}

export const pasted = (model: Model, text: string): Step =>
  model.mode.type === 'browse' ? unchanged(model) : inMode(model, '', text)

function global(model: Model, meaning: string, key: string): Step {
  switch (meaning) {
    case 'screen':
      return goTo(model, SCREENS[Number(key) - 1]!)
    case 'move':
      return move(model, key)
    case 'open':
      return open(model)
    case 'pane': {
      const count = panesOf(model).length
      return unchanged({ ...model, pane: (model.pane + (key === 'tab' ? 1 : -1) + count) % count, scroll: 0 })
    }
    case 'mark':
      return mark(model)
    case 'filter':
      return LISTS[model.screen]
        ? unchanged({ ...model, mode: { type: 'filter', draft: listOf(model).filter, past: -1 } })
        : unchanged(notify(model, 'This screen has nothing to filter.'))
    case 'palette':
      return unchanged({ ...model, mode: { type: 'palette', draft: '', at: 0 } })
    case 'help':
      return unchanged({ ...model, mode: { type: 'help' } })
    case 'messages':
      return unchanged({ ...model, mode: { type: 'messages' } })
    case 'back':
      return back(model)
    case 'refresh':
      return unchanged(model, { type: 'reconnect' })
    case 'sort':
      return sort(model, key === 's' ? 1 : -1)
    case 'pause':
      return unchanged({ ...model, paused: !model.paused })
    case 'follow':
      return unchanged(withList(model, { chosen: null, offset: 0, arrived: 0 }))
    case 'rate':
      return unchanged({ ...model, rate: Math.min(10, Math.max(1, model.rate + (key === '+' ? -1 : 1))) })
    case 'quit':
      return unchanged(model, { type: 'quit' })
    case 'copy':
      return copy(model)
    case 'copy-command':
      return unchanged(notify(model, 'Open a dialog or the palette first, to copy its command.'))
    case 'trace':
      return trace(model)
    case 'logs.clear':
      return unchanged({ ...model, clearedAt: new Date(model.now).toISOString() })
    case 'wrap':
      return unchanged({ ...model, wrap: !model.wrap })
    case 'keys.owner':
      // The owners of the rows, and everyone.
      return pick(model, {
        what: 'owner',
        title: 'keys of',
        names: ['everyone', ...new Set(allRows(model).map(({ owner }) => String(owner)))],
      })
    default: {
      if (meaning.startsWith('review.')) return inReview(model, meaning.slice('review.'.length), key)
      if (meaning.startsWith('takeovers.')) return inChat(model, meaning)
      const action = LISTS[model.screen]?.actions[meaning]
      const rows = meaning.endsWith('-all') ? shownRows(model) : pickedRows(model)
      return action ? ask(model, action(rows, model)) : unchanged(model)
    }
  }
}

function goTo(model: Model, screen: Screen): Step {
  const next: Model = { ...model, screen, review: null, mode: { type: 'browse' }, pane: 0, scroll: 0 }
  const chat = screen === 'takeovers' ? chosenChat(next) : null
  return unchanged(next, { type: 'reconnect' }, ...(chat ? [readChat(chat)] : []))
}

const PAGE = 10
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -PAGE,
  pagedown: PAGE,
  g: Number.NEGATIVE_INFINITY,
  home: Number.NEGATIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
}

function move(model: Model, key: string): Step {
  const by = STEPS[key] ?? 0
  if (model.review) {
    const top = Math.max(0, Math.min(5_000, model.review.top + by))
    return unchanged({ ...model, review: { ...model.review, top } })
  }
  if (paneOf(model) !== panesOf(model)[0]) {
    // A chat scrolls from its end.
    const scroll = Math.max(0, Math.min(1_000, model.scroll + (model.screen === 'takeovers' ? -by : by)))
    return unchanged({ ...model, scroll })
  }
  const rows = shownRows(model)
  if (!rows.length) return unchanged(model)
  const before = chosenAt(model, rows)
  const at = Math.max(0, Math.min(rows.length - 1, before + by))
  const offset = Math.max(0, listOf(model).offset + at - before)
  const isTop = at === 0
  const next = withList(
    { ...model, scroll: 0 },
    {
      chosen: isTop ? null : rows[at]!.id,
      offset: isTop ? 0 : Math.min(offset, at, model.rows),
      ...(isTop ? { arrived: 0 } : {}),
    },
  )
  // The topmost chat is a waiting person. Selecting it by name keeps another chat from sliding under the cursor.
  if (model.screen !== 'takeovers') return unchanged(next)
  const chat = rows[at] as Parameters<typeof readChat>[0]
  return unchanged(withList(next, { chosen: rows[at]!.id }), readChat(chat))
}

function pick(model: Model, picker: Picker): Step {
  if (!picker.names.length)
    return unchanged(notify(model, 'There is no other profile. Add one: svc-admin profiles add'))
  return unchanged({ ...model, mode: { type: 'pick', picker, at: 0 } })
}

function open(model: Model): Step {
  const pane = screenOfPane(model)
  if (pane) return goTo(model, pane)
  const row = chosenRow(model)
  if (!row) return unchanged(model)
  if (model.screen === 'overview') return goTo(model, screenOfNeed(row.id))
  if (model.screen === 'submissions') {
    if (model.review) return unchanged(model)
    const { id } = row
    const [about, diff] = [submissionPath(id), diffPath(id)]
    const review = { id, part: 'checks', top: 0, opened: ['checks'], split: false }
    return unchanged(
      withList({ ...model, review }, { chosen: id }),
      { type: 'read', name: about, path: about },
      { type: 'read', name: diff, path: diff },
    )
  }
  if (model.screen === 'takeovers') {
    const chat = chosenChat(model)!
    return unchanged(withList(model, { chosen: chat.id }), readChat(chat))
  }
  // The trace of a request contains more than its log line.
  if (model.screen === 'logs') return trace(model)
  const lines = JSON.stringify(row, null, 2).split('\n')
  return unchanged({ ...model, mode: { type: 'output', title: LISTS[model.screen]!.title(row), lines, top: 0 } })
}

function mark(model: Model): Step {
  const row = chosenRow(model)
  if (!row || !LISTS[model.screen]) return unchanged(model)
  const { marked } = listOf(model)
  const next = marked.includes(row.id) ? marked.filter((id) => id !== row.id) : [...marked, row.id]
  return move(withList(model, { marked: next }), 'down')
}

function back(model: Model): Step {
  if (model.review) return unchanged({ ...model, review: null })
  const { filter, marked } = listOf(model)
  if (filter) return refiltered(model, withList(model, { filter: '' }))
  return unchanged(marked.length ? withList(model, { marked: [] }) : model)
}

/** Sorts by the next column, first descending, then ascending. After the last column, restores the server's order. */
function sort(model: Model, by: 1 | -1): Step {
  const view = LISTS[model.screen]
  if (!view) return unchanged(model)
  const { sort: now } = listOf(model)
  const places = view.columns.length * 2
  const place = now ? now.column * 2 + (now.descending ? 0 : 1) : by > 0 ? -1 : places
  const next = place + by
  const sorted = next < 0 || next >= places ? null : { column: Math.floor(next / 2), descending: next % 2 === 0 }
  return unchanged(withList(model, { sort: sorted }))
}

function copy(model: Model): Step {
  const row = chosenRow(model)
  if (!row) return unchanged(model)
  return unchanged(notify(model, `copied ${row.id}`), { type: 'copy', text: row.id })
}

/** Shows the trace of the row's request. */
function trace(model: Model): Step {
  const row = chosenRow(model)
  const request = row && LISTS[model.screen]?.requestOf?.(row)
  if (!request) return unchanged(notify(model, 'This row has no request to trace.'))
  return unchanged(model, { type: 'run', argv: ['trace', request], as: 'shown', write: false })
}

function inReview(model: Model, part: string, key: string): Step {
  const { review } = model
  if (!review) return unchanged(model)
  if (part === 'split') return unchanged({ ...model, review: { ...review, split: !review.split, top: 0 } })
  if (part === 'rerun' || part === 'log') {
    const argv =
      part === 'log' ? ['audit', 'list', '--entity', review.id] : ['submissions', 'checks', review.id, '--rerun']
    return unchanged(model, { type: 'run', argv, as: 'shown', write: false })
  }
  if (part !== 'hunk') {
    const opened = [...new Set([...review.opened, part as Part])]
    return unchanged({ ...model, review: { ...review, part, top: 0, opened } })
  }
  const starts = review.part === 'diff' ? hunksOf(model, model.columns) : []
  const next = key === 'n' ? starts.find((at) => at > review.top) : starts.findLast((at) => at < review.top)
  return unchanged({ ...model, review: { ...review, top: next ?? review.top } })
}

function inChat(model: Model, meaning: string): Step {
  const chat = chosenChat(model)
  if (!chat) return unchanged(notify(model, 'No chat is selected.'))
  const held = withList(model, { chosen: chat.id })
  const argv = (verb: string, ...more: string[]) => ['takeovers', verb, chat.id, '--widget', chat.widget_id, ...more]
  if (meaning === 'takeovers.write') {
    return chat.takeover_status === 'human'
      ? unchanged({ ...held, mode: { type: 'write', sending: false, failed: null } })
      : unchanged(notify(model, 'Take it over first: press T.'))
  }
  const own = CHAT_DIALOGS[meaning]?.(chat)
  if (own) return ask(held, own)
  if (meaning === 'takeovers.draft')
    return writing(held, { type: 'run', argv: argv('reply', '--draft', '-o', 'table'), as: 'draft', write: true })
  const verb = meaning === 'takeovers.take' ? 'take' : 'release'
  return writing(held, { type: 'run', argv: argv(verb), as: 'told', write: true })
}

function ask(model: Model, request: Request): Step {
  if (request === null) return unchanged(model)
  if (typeof request === 'string') return unchanged(notify(model, request))
  if ('begin' in request) return unchanged({ ...model, mode: { type: 'palette', draft: request.begin, at: 0 } })
  if ('run' in request) {
    const run = { type: 'run', argv: request.run, as: 'shown', write: request.write } as const
    return request.write ? writing(model, run) : unchanged(model, run)
  }
  const refused = request.verb === 'Verify' ? null : refusal(model, request.argv[0] ?? [])
  return refused
    ? unchanged(notify(model, refused))
    : unchanged({ ...model, mode: { type: 'dialog', dialog: request } })
}
