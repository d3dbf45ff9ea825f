import { cleaned } from '../../../tui/data/connection'
import type { Effect, Event } from '../../../tui/state/model'
import { type Model, SCREENS, startModel } from '../../../tui/state/model'
import { update } from '../../../tui/state/update'
import { type MockUp, mockUp } from './mock-up'

export const NOW = Date.parse('2026-11-23T14:02:31Z')

type Given = Partial<Model> & { topics?: never; data?: MockUp }

/** A dashboard that shows the mock-ups, at a moment that does not go on. */
export function modelOf({ data = mockUp(NOW), ...given }: Given = {}): Model {
  const start = startModel({
    where: {
      name: 'prod',
      address: 'http://10.0.0.5:3400',
      version: '0.1.0',
      production: false,
      operator: 'sam',
      profiles: ['staging'],
      flags: [],
    },
    options: { color: false, ascii: false, motion: true, bell: false, screenReader: false },
    commands: [
      { path: 'credits grant', args: '<owner> <amount>', summary: 'Add credit to an org or a user', writes: true },
      { path: 'credits ledger', args: '<owner>', summary: 'Show the ledger', writes: false },
      { path: 'keys create', args: '', summary: 'Create an API key and show its secret once', writes: true },
      { path: 'status', args: '', summary: 'Show on one screen what runs', writes: false },
    ],
    now: NOW,
    columns: 80,
    rows: 24,
    canWrite: true,
    screen: 'overview',
  })
  const at = new Date(NOW).toISOString()
  const topics = SCREENS.map((topic) => [topic, { ...(cleaned(data[topic]) as object), seq: 1, at, trouble: null }])
  const link = { ...start.link, state: 'live' as const, heardAt: NOW - 1_000 }
  return { ...start, holder: 'operator:sam', link, topics: Object.fromEntries(topics) as Model['topics'], ...given }
}

/** Does these keys one after the other; a text of more than one letter that names no key is typed. */
export function press(model: Model, ...keys: string[]): { model: Model; effects: Effect[] } {
  const effects: Effect[] = []
  let now = model
  for (const key of keys) {
    const event: Event = { type: 'key', key, text: [...key].length === 1 ? key : key === 'space' ? ' ' : '' }
    const step = update(now, event)
    now = step.model
    effects.push(...step.effects)
  }
  return { model: now, effects }
}
export const typed = (text: string): string[] => [...text].map((letter) => (letter === ' ' ? 'space' : letter))
