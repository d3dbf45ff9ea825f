import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { routingPreferences } from '../../../src/routing/table'
import { createWorld } from '../../support/world'

const world = await createWorld()

test('a stored rule that this version cannot use is skipped, reported and audited (K16)', async () => {
  const ada = await world.person()
  const { body } = await ada.send('POST', 'routing-preferences', { name: 'Old', rules: [], is_default: true })
  const rule = { pattern: '(unclosed', target_mode: 'code', target_engine: null, confidence: 0.9, description: null }
  await world.app.store.write(async (tx) => {
    const table = tx.of(routingPreferences)
    await tx
      .update(table)
      .set({ rules: [rule] })
      .where(eq(table.id, body.id))
  })
  const answered = await ada.send('POST', 'completions', { prompt: 'hello there', mode: 'auto' })
  expect(answered.status).toBe(200)
  const message = expect.stringContaining(`Rule 1 of routing preference ${body.id} was skipped`)
  expect(answered.body.warnings).toEqual([message])
  const { body: events } = await ada.send('GET', 'audit?action=completion.created')
  expect(JSON.stringify(events[0])).toContain('"routing_warnings":["Rule 1 of routing preference')
  const { body: plain } = await ada.send('POST', 'completions', { prompt: 'hello you', mode: 'fast' })
  expect(plain.warnings ?? []).toEqual([])
})
