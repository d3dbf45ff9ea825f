import { asTyped } from '../draw/spell'
import type { Effect } from './model'
import { type ListState, type Model, topicRequestOf } from './model'

export type Step = { model: Model; effects: readonly Effect[] }

const MAX_MESSAGES = 200
export const VIEWER = 'Your operator role viewer can read but not change anything.'
/** For every role but `support` and `admin`. The server leaves these members empty for them. */
export const NOT_SHOWN = 'Links and what people wrote are hidden. An operator with the role support can see them.'

export const unchanged = (model: Model, ...effects: Effect[]): Step => ({ model, effects })

export const notify = (model: Model, text: string): Model => ({
  ...model,
  messages: [...model.messages, { at: model.now, text: asTyped(text) }].slice(-MAX_MESSAGES),
})

export const withList = (model: Model, change: Partial<ListState>, screen = model.screen): Model => ({
  ...model,
  lists: { ...model.lists, [screen]: { ...model.lists[screen], ...change } },
})

/** After a filter change: reconnects the stream if the number of requested rows changes. */
export const refiltered = (before: Model, after: Model): Step =>
  topicRequestOf(before).max === topicRequestOf(after).max ? unchanged(after) : unchanged(after, { type: 'reconnect' })

/** The role that may change a kind besides admin, by the first word of the command (docs/operating.md 2.2). */
const ROLES: Readonly<Record<string, string>> = {
  takeovers: 'support',
  browser: 'support',
  submissions: 'reviewer',
  skills: 'reviewer',
  credits: 'billing',
  limits: 'billing',
}

/** Why this operator's role cannot run the command. Null if it can, or the role is unknown. The server decides. */
export function refusal({ role }: Model, [noun = '', verb = '']: readonly string[]): string | null {
  const wanted = ROLES[noun] ?? 'admin'
  if (role === '' || role === 'admin' || role === wanted) return null
  return `The role ${role} cannot ${verb || 'change this'}. Ask someone with the role ${wanted}.`
}

/** Runs a changing command, unless the role forbids it, the dashboard is read-only or the server is unreachable. */
export function writing(model: Model, effect: Effect & { type: 'run' }): Step {
  const refused = refusal(model, effect.argv)
  if (refused) return unchanged(notify(model, refused))
  if (!model.canWrite) return unchanged(notify(model, 'The dashboard is read-only. Type :write to allow changes.'))
  if (model.link.state === 'offline')
    return unchanged(notify(model, 'Actions are disabled until the server answers again.'))
  return unchanged(model, effect)
}
