import { describe, expect, test } from 'bun:test'
import { operatorSender } from '../../operators/support'
import { fakeClock } from '../../support/clock'
import { expectData } from '../../support/event-data'
import { createWorld, type Person } from '../../support/world'

const clock = fakeClock('2030-01-01T12:00:00.000Z')
const world = await createWorld({ clock })
const ops = operatorSender(world)
const DAY = 86_400_000

let requested = 0
const write = (by: Person, metadata: object) =>
  by.send('POST', 'completions', { prompt: `Hello ${++requested}`, mode: 'fast', metadata })
const channels = async (by: Person) => (await by.send('GET', 'channels')).body.channels
/** What the owner is told, oldest first. */
const notify = async (by: Person) => {
  return (await by.send('GET', 'events?limit=100')).body.events
    .filter(({ eventType }: { eventType: string }) => eventType.startsWith('connector.'))
    .map(({ eventType, payload }: { eventType: string; payload: { status: string } }) => [eventType, payload.status])
    .reverse()
}
const subscribed = async () => {
  const ada = await world.person()
  await ada.send('POST', 'hooks', { event_pattern: 'connector', skill_slug: 'email-drafter' })
  return ada
}

describe('GET /channels (docs/api.md 21)', () => {
  test('has where people wrote from, the last one first, and nobody else’s', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await write(ada, { channel: 'telegram' })
    clock.advance(1_000)
    await write(ada, { channel: 'whatsapp', channel_name: 'Support line' })
    await write(eve, { channel: 'web' })
    expect(await channels(ada)).toMatchObject([
      { type: 'whatsapp', name: 'Support line', status: 'active' },
      { type: 'telegram', name: 'telegram', status: 'active', last_message_at: '2030-01-01T12:00:00.000Z' },
    ])
    clock.advance(1_000)
    await write(ada, { channel: 'telegram' })
    expect((await channels(ada)).map(({ type }: { type: string }) => type)).toEqual(['telegram', 'whatsapp'])
    expect((await ops('GET', `channels?owner=${ada.userId}`)).body.channels).toHaveLength(2)
    expect((await ops('GET', 'channels')).body.channels.length).toBeGreaterThanOrEqual(3)
  })

  test.each([['carrier pigeon'], [''], [7], [null], [{ a: 1 }]])('takes no channel %p', async (channel) => {
    const ada = await world.person()
    await write(ada, { channel })
    expect(await channels(ada)).toEqual([])
  })

  test('has a hundred of an owner at most; more count as the channel of their type', async () => {
    const ada = await world.person()
    for (let at = 0; at < 105; at++) await write(ada, { channel: 'web', channel_name: `page ${at}` })
    const found: { name: string }[] = await channels(ada)
    expect(found).toHaveLength(100)
    expect((await ops('GET', `channels?owner=${ada.userId}`)).body.channels).toHaveLength(100)
  })

  test('one that is silent for a week is idle, until somebody writes: told each time', async () => {
    const ada = await subscribed()
    await write(ada, { channel: 'widget' })
    const { jobs } = world.app.container
    const look = async () => {
      await jobs.runDue('channels.silence')
      return (await channels(ada))[0].status
    }
    // As a server that starts has it.
    const recurring = { owner: null, payload: null, uniqueKey: 'recurring' }
    await world.app.store.write((tx) => jobs.enqueue(tx, { name: 'channels.silence' }, recurring))
    clock.advance(6 * DAY)
    expect(await look()).toBe('active')
    clock.advance(1 * DAY + 1)
    expect(await look()).toBe('idle')
    clock.advance(1_000)
    await write(ada, { channel: 'widget' })
    expect((await channels(ada))[0].status).toBe('active')
    expect(await notify(ada)).toEqual([
      ['connector.created', 'active'],
      ['connector.status_changed', 'idle'],
      ['connector.status_changed', 'active'],
    ])
    await expectData(ada, ['connector.status_changed'])
  })
})
