import { commandLines } from '../draw/boxes'
import { asTyped } from '../draw/spell'
import { chosenChat } from '../screens/chats'
import type { Dialog, Effect, Model } from './model'
import { found, wordsOf } from './palette'
import { listOf } from './rows'
import { notify, refiltered, type Step, unchanged, VIEWER, withList, writing } from './step'

const MAX_CHARS = 4_000
const MAX_FILTERS = 20

/** A text after a key: extended by typing or pasting, or shortened. */
function typed(draft: string, key: string, text: string, max = 400): string {
  if (key === 'backspace') return [...draft].slice(0, -1).join('')
  if (key === 'ctrl-u') return ''
  if (key === 'ctrl-w') return draft.replace(/\s*\S+\s*$/, '')
  return text && (!key.startsWith('ctrl-') || !key) ? (draft + text).slice(0, max) : draft
}

const browse = (model: Model): Model => ({ ...model, mode: { type: 'browse' } })

/** Handles keys while a mode other than a screen has the focus. Esc always leaves the mode. */
export function inMode(model: Model, key: string, text: string): Step {
  const { mode } = model
  switch (mode.type) {
    case 'filter':
      return filter(model, mode, key, text)
    case 'palette':
      return palette(model, mode, key, text)
    case 'dialog':
      return dialog(model, mode.dialog, key, text)
    case 'secret':
      return secret(model, mode, key)
    case 'write':
      return write(model, key, text)
    case 'pick':
      return picked(model, mode, key)
    case 'output':
      return output(model, mode, key)
    default:
      return unchanged(key === 'esc' || key === 'q' || key === 'enter' || key === '?' ? browse(model) : model)
  }
}

type ModeOf<T extends Model['mode']['type']> = Extract<Model['mode'], { type: T }>

function filter(model: Model, mode: ModeOf<'filter'>, key: string, text: string): Step {
  if (key === 'esc') return unchanged(browse(model))
  if (key === 'enter') {
    const { draft } = mode
    const filters = draft
      ? [draft, ...model.filters.filter((one) => one !== draft)].slice(0, MAX_FILTERS)
      : model.filters
    return refiltered(model, withList({ ...browse(model), filters }, { filter: draft.trim(), chosen: null, offset: 0 }))
  }
  if (key === 'up' || key === 'down') {
    const past = Math.max(-1, Math.min(model.filters.length - 1, mode.past + (key === 'up' ? 1 : -1)))
    return unchanged({ ...model, mode: { ...mode, past, draft: model.filters[past] ?? listOf(model).filter } })
  }
  const draft = typed(mode.draft, key, text.replaceAll(/\s+/g, ' '))
  return unchanged({ ...model, mode: { ...mode, draft } })
}

function palette(model: Model, mode: ModeOf<'palette'>, key: string, text: string): Step {
  const commands = found(model.commands, mode.draft)
  const at = Math.min(mode.at, Math.max(0, Math.min(commands.length, 6) - 1))
  const picked = commands[at]
  if (key === 'esc') return unchanged(browse(model))
  if (key === 'up' || key === 'down')
    return unchanged({ ...model, mode: { ...mode, at: Math.max(0, at + (key === 'up' ? -1 : 1)) } })
  if (key === 'tab' && picked) return unchanged({ ...model, mode: { ...mode, draft: `${picked.path} `, at: 0 } })
  if (key === 'ctrl-y') {
    const line = asTyped(`svc-admin ${mode.draft.trim()}`)
    return unchanged(notify(model, `copied ${line}`), { type: 'copy', text: line })
  }
  if (key === 'enter') return runPalette(model, mode.draft.trim(), picked)
  return unchanged({ ...model, mode: { ...mode, draft: typed(mode.draft, key, text.replaceAll(/\s+/g, ' ')), at: 0 } })
}

function runPalette(model: Model, draft: string, picked: Model['commands'][number] | undefined): Step {
  if (draft === 'write' || draft === 'read-only') {
    const canWrite = draft === 'write'
    if (canWrite && model.role === 'viewer') return unchanged(notify(browse(model), VIEWER))
    return unchanged({
      ...notify(browse(model), canWrite ? 'changes are allowed' : 'changes are not allowed'),
      canWrite,
    })
  }
  if (draft === 'q' || draft === 'quit') return unchanged(model, { type: 'quit' })
  if (!picked) return unchanged(notify(model, 'There is no such command.'))
  const isWhole = draft === picked.path || draft.startsWith(`${picked.path} `)
  // An incomplete command name is completed first, so that nothing runs unread.
  if (!isWhole) return unchanged({ ...model, mode: { type: 'palette', draft: `${picked.path} `, at: 0 } })
  const run: Effect & { type: 'run' } = { type: 'run', argv: wordsOf(draft), as: 'shown', write: picked.writes }
  return picked.writes ? writing(browse(model), run) : unchanged(browse(model), run)
}

const ORDER = ['field', 'cancel', 'go'] as const

function dialog(model: Model, request: Dialog, key: string, text: string): Step {
  const change = (next: Partial<Dialog>) =>
    unchanged({ ...model, mode: { type: 'dialog', dialog: { ...request, ...next } } })
  const places = ORDER.filter((place) => place !== 'field' || request.field)
  const at = places.indexOf(request.focus)
  if (key === 'esc') return unchanged(browse(model))
  if (key === 'ctrl-y') {
    const lines = commandLines(request).join('\n')
    return unchanged(notify(model, 'copied the shell command'), { type: 'copy', text: lines })
  }
  if (key === 'tab' || key === 'right' || key === 'down') return change({ focus: places[(at + 1) % places.length]! })
  if (key === 'shift-tab' || key === 'left' || key === 'up')
    return change({ focus: places[(at + places.length - 1) % places.length]! })
  if (key === 'enter') {
    if (request.focus === 'cancel') return unchanged(browse(model))
    if (request.field?.required && !request.field.text.trim()) return change({ focus: 'field' })
    return request.focus === 'field' ? change({ focus: 'go' }) : confirmed(model, request)
  }
  if (request.focus === 'field' && request.field) {
    return change({ field: { ...request.field, text: typed(request.field.text, key, text.replaceAll(/\s+/g, ' ')) } })
  }
  return unchanged(model)
}

function confirmed(model: Model, request: Dialog): Step {
  const { field, argv } = request
  const text = field?.text.trim() ?? ''
  const flags = field?.flag ? [`${field.flag}=${text}`] : []
  const isRead = request.verb === 'Verify'
  return argv.reduce<Step>(
    (before, words) => {
      const run = [...words.map((word) => word.replace('$', () => text)), ...flags]
      const as = request.secret ? 'secret' : isRead ? 'shown' : 'told'
      const effect = { type: 'run', argv: run, as, write: !isRead } as const
      const { model: next, effects } = isRead ? unchanged(before.model, effect) : writing(before.model, effect)
      return { model: next, effects: [...before.effects, ...effects] }
    },
    unchanged(withList(browse(model), { marked: [] })),
  )
}

function secret(model: Model, mode: ModeOf<'secret'>, key: string): Step {
  const stored = { ...model, mode: { ...mode, saved: true, asking: false } }
  if (key === 'y')
    return unchanged(notify(stored, 'sent the key to the clipboard'), { type: 'copy', text: mode.secret })
  if (key === 'w') return unchanged(stored, { type: 'save', text: mode.secret })
  if (key === 'enter') return unchanged(browse(model))
  if (key !== 'esc') return unchanged(model)
  return mode.saved || mode.asking ? unchanged(browse(model)) : unchanged({ ...model, mode: { ...mode, asking: true } })
}

function write(model: Model, key: string, text: string): Step {
  const chat = chosenChat(model)
  if (key === 'esc' || !chat) return unchanged(browse(model))
  const draft = model.drafts[chat.id] ?? ''
  if (key === 'enter') {
    if (!draft.trim() || (model.mode.type === 'write' && model.mode.sending)) return unchanged(model)
    const saved = model.replies.get(draft.trim().slice(1))
    // Inserts a saved reply into the draft, so that the person reads it before sending.
    if (saved && draft.trim().startsWith('/'))
      return unchanged({ ...model, drafts: { ...model.drafts, [chat.id]: saved } })
    // The same text at the same point of a chat has the same key, so repeated sending posts it once.
    const once = Bun.hash(`${chat.id} ${chat.message_count} ${draft}`).toString(36)
    const argv = ['takeovers', 'reply', '--widget', chat.widget_id, '--idempotency-key', once, '--', chat.id, draft]
    const step = writing(model, { type: 'run', argv, as: 'reply', write: true })
    const sending = { type: 'write', sending: true, failed: null } as const
    return step.effects.length ? { ...step, model: { ...step.model, mode: sending } } : step
  }
  const drafts = { ...model.drafts, [chat.id]: typed(draft, key, text, MAX_CHARS) }
  return unchanged({ ...model, drafts })
}

function picked(model: Model, mode: ModeOf<'pick'>, key: string): Step {
  const { picker, at } = mode
  const by = { up: -1, k: -1, down: 1, j: 1 }[key]
  if (by) return unchanged({ ...model, mode: { ...mode, at: Math.max(0, Math.min(picker.names.length - 1, at + by)) } })
  if (key !== 'enter') return unchanged(key === 'esc' || key === 'q' ? browse(model) : model)
  const name = picker.names[at]!
  if (picker.what === 'profile') return unchanged(browse(model), { type: 'profile', name })
  return unchanged(withList(browse(model), { filter: at ? `owner:"${name}"` : '', chosen: null, offset: 0 }))
}

function output(model: Model, mode: ModeOf<'output'>, key: string): Step {
  if (key === 'esc' || key === 'q' || key === 'enter') return unchanged(browse(model))
  if (key === 'y') return unchanged(notify(model, 'copied'), { type: 'copy', text: mode.lines.join('\n') })
  const by = { up: -1, k: -1, down: 1, j: 1, pageup: -10, pagedown: 10, g: -1e9, G: 1e9 }[key] ?? 0
  const top = Math.max(0, Math.min(Math.max(0, mode.lines.length - 5), mode.top + by))
  return unchanged({ ...model, mode: { ...mode, top } })
}
