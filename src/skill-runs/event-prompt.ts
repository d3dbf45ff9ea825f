import type { BusEventRow } from '../events'
import { fence } from '../kernel/fence'
import { MOST_DATA } from './rules'

type Told = Pick<BusEventRow, 'id' | 'type' | 'envelope'>

/**
 * The prompt of a run for an event: the event as data, fenced, since anyone may have written it. `settings` are the
 * hook's own, and `task` what its owner wants done.
 */
export function eventPrompt({ id, type, envelope }: Told, settings: Readonly<Record<string, unknown>> = {}): string {
  const { data, created } = JSON.parse(envelope) as { data: unknown; created: string }
  const { prompt: task, ...others } = settings
  const text = JSON.stringify(data, null, 1)
  const shown = text.length > MOST_DATA ? `${text.slice(0, MOST_DATA)}\n… and ${text.length - MOST_DATA} more` : text
  return [
    typeof task === 'string' && task.trim() ? task : 'This event has happened. Do your task with it.',
    ...(Object.keys(others).length ? [`Settings: ${JSON.stringify(others)}`] : []),
    fence(`event ${type} ${id} of ${created}`, shown),
  ].join('\n\n')
}
