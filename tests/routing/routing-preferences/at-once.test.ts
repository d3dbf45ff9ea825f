import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ada = await world.person()
const ROUNDS = 12
const bound = `keys/${ada.keyId}/routing-preference`

/** Runs `round` on fresh preferences, one after the other: a single try could miss the race. */
async function onFresh(round: (path: string, id: string) => Promise<void>): Promise<void> {
  for (let tried = 0; tried < ROUNDS; tried++) {
    const { id } = (await ada.send('POST', 'routing-preferences', { name: 'Mine' })).body
    await round(`routing-preferences/${id}`, id)
  }
}

describe('of requests for one preference at once', () => {
  test('one that binds it and one that deletes it leave no key with a preference that is gone', async () => {
    await onFresh(async (path, id) => {
      const [binding, deletion] = await Promise.all([
        ada.send('PUT', bound, { routing_preference_id: id }),
        ada.send('DELETE', path),
      ])
      expect([200, 404]).toContain(binding.status)
      expect(deletion.status).toBe(200)
      expect((await ada.send('GET', `keys/${ada.keyId}`)).body.routing_preference_id).toBeNull()
    })
  })

  test('one that changes it beside one that deletes it finds it or gets 404', async () => {
    await onFresh(async (path) => {
      const [change, deletion] = await Promise.all([
        ada.send('PATCH', path, { name: 'Renamed' }),
        ada.send('DELETE', path),
      ])
      expect([200, 404]).toContain(change.status)
      expect(deletion.status).toBe(200)
    })
  })

  test('one deletion succeeds and is on the record once', async () => {
    await onFresh(async (path, id) => {
      const deletions = await Promise.all([1, 2, 3].map(() => ada.send('DELETE', path)))
      expect(deletions.map(({ status }) => status).sort()).toEqual([200, 404, 404])
      expect((await ada.send('GET', `audit?entity_id=${id}&action=routing_preference.deleted`)).body).toHaveLength(1)
    })
  })
})
