import { LISTS } from '../screens'
import { CHAT_DIALOGS, chosenChat } from '../screens/chats'
import type { Asked } from '../screens/list-view'
import { hunksOf, type Part } from '../screens/review'
import type { Model } from './model'
import { chosenRow, pickedRows, shownRows } from './rows'
import { refusal, type Step, stay, told, withList, writing } from './step'

/** What became of the request of a row. */
export function trace(model: Model): Step {
  const row = chosenRow(model)
  const request = row && LISTS[model.screen]?.requestOf?.(row)
  if (!request) return stay(told(model, 'This row has no request to trace.'))
  return stay(model, { type: 'run', argv: ['trace', request], as: 'shown', write: false })
}

export function act(model: Model, meaning: string, key: string): Step {
  if (meaning.startsWith('review.')) return inReview(model, meaning.slice('review.'.length), key)
  if (meaning.startsWith('takeovers.')) return inChat(model, meaning)
  const action = LISTS[model.screen]?.actions[meaning]
  if (!action) return stay(model)
  const rows = meaning.endsWith('-all') ? shownRows(model) : pickedRows(model)
  return ask(model, action(rows, model))
}

function inReview(model: Model, part: string, key: string): Step {
  const { review } = model
  if (!review) return stay(model)
  if (part === 'split') return stay({ ...model, review: { ...review, split: !review.split, top: 0 } })
  if (part === 'rerun' || part === 'log') {
    const argv =
      part === 'log' ? ['audit', 'list', '--entity', review.id] : ['submissions', 'checks', review.id, '--rerun']
    return stay(model, { type: 'run', argv, as: 'shown', write: false })
  }
  if (part !== 'hunk') {
    const opened = [...new Set([...review.opened, part as Part])]
    return stay({ ...model, review: { ...review, part, top: 0, opened } })
  }
  const starts = review.part === 'diff' ? hunksOf(model, model.columns) : []
  const next = key === 'n' ? starts.find((at) => at > review.top) : starts.findLast((at) => at < review.top)
  return stay({ ...model, review: { ...review, top: next ?? review.top } })
}

export function inChat(model: Model, meaning: string): Step {
  const chat = chosenChat(model)
  if (!chat) return stay(told(model, 'No chat is selected.'))
  const held = withList(model, { chosen: chat.id })
  const argv = (verb: string, ...more: string[]) => ['takeovers', verb, chat.id, '--widget', chat.widget_id, ...more]
  if (meaning === 'takeovers.write') {
    return chat.takeover_status === 'human'
      ? stay({ ...held, mode: { type: 'write', sending: false, failed: null } })
      : stay(told(model, 'Take it over first: press T.'))
  }
  const own = CHAT_DIALOGS[meaning]?.(chat)
  if (own) return ask(held, own)
  if (meaning === 'takeovers.draft')
    return writing(held, { type: 'run', argv: argv('reply', '--draft', '-o', 'table'), as: 'draft', write: true })
  const verb = meaning === 'takeovers.take' ? 'take' : 'release'
  return writing(held, { type: 'run', argv: argv(verb), as: 'told', write: true })
}

function ask(model: Model, asked: Asked): Step {
  if (asked === null) return stay(model)
  if (typeof asked === 'string') return stay(told(model, asked))
  if ('begin' in asked) return stay({ ...model, mode: { type: 'palette', draft: asked.begin, at: 0 } })
  if ('run' in asked) {
    const run = { type: 'run', argv: asked.run, as: 'shown', write: asked.write } as const
    return asked.write ? writing(model, run) : stay(model, run)
  }
  const refused = asked.verb === 'Verify' ? null : refusal(model, asked.argv[0] ?? [])
  return refused ? stay(told(model, refused)) : stay({ ...model, mode: { type: 'dialog', dialog: asked } })
}
