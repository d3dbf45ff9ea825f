import { expect } from 'bun:test'
import { SAMPLES } from '../../src/events/schema'
import type { Person } from './world'

type ServerEvent = keyof typeof SAMPLES

/** Has the bus keep what the server tells of this person: it keeps only what somebody is subscribed to. */
export async function subscribeTo(person: Person, eventPattern: string): Promise<void> {
  const steps = [{ type: 'output', name: 'a', config: { format: 'text', template: 'x' } }]
  const input = { name: eventPattern, triggerType: 'event', triggerConfig: { eventPattern }, steps, enabled: true }
  const { status, text } = await person.send('POST', 'workflows', input)
  if (status !== 201) throw new Error(text)
}

/**
 * Each of these events was sent to this person, with the members that docs/api.md 14.2 gives its data, and no other.
 */
export async function expectData(person: Person, types: readonly ServerEvent[]): Promise<void> {
  for (const type of types) {
    const { events } = (await person.send('GET', `events?eventType=${type}`)).body
    expect({ type, events: events.length > 0 }).toEqual({ type, events: true })
    for (const { payload } of events) {
      expect([type, ...Object.keys(payload).sort()]).toEqual([type, ...Object.keys(SAMPLES[type].data).sort()])
    }
  }
}
