import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'
import { simple, withTool } from './drawing'
import { actionsOf, canvasOf, order, publish } from './world'

const world = await createWorld()

describe('versions of a canvas', () => {
  test('are what was published, newest first, and any of them is drawn again', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    const request = order()
    const { body: first } = await publish(ada, id, request)
    await ada.send('PATCH', `evi/canvases/${id}`, { graph_json: withTool() })
    await publish(ada, id, { ...request, version: '2.0.0', visibility: 'public' })
    const { body } = await ada.send('GET', `evi/canvases/${id}/versions`)
    expect(body).toMatchObject({
      versions: [
        { version: '2.0.0', visibility: 'public', graphJson: withTool(), skillId: first.skillId },
        { version: '1.0.0', visibility: 'private', graphJson: simple(), submissionId: first.submission.id },
      ],
      has_more: false,
      next_cursor: null,
    })
    const { body: restored } = await ada.send('POST', `evi/canvases/${id}/versions/${body.versions[1].id}/restore`)
    expect(restored.canvas).toMatchObject({
      status: 'draft',
      graphJson: simple(),
      compiledManifest: null,
      publishedSkillId: first.skillId,
    })
    expect((await actionsOf(ada))[0]).toBe('canvas.updated')
    const { body: paged } = await ada.send('GET', `evi/canvases/${id}/versions?limit=1`)
    expect(paged).toMatchObject({ versions: [{ version: '2.0.0' }], has_more: true })
  })

  test('of one canvas are not those of another', async () => {
    const ada = await world.person()
    const [one, other] = [await canvasOf(ada), await canvasOf(ada)]
    await publish(ada, one, order())
    const [{ id }] = (await ada.send('GET', `evi/canvases/${one}/versions`)).body.versions
    for (const version of [id, crypto.randomUUID(), 'nonsense']) {
      expect((await ada.send('POST', `evi/canvases/${other}/versions/${version}/restore`)).status).toBe(404)
    }
  })

  test('restored twice with one key is restored once', async () => {
    const ada = await world.person()
    const id = await canvasOf(ada)
    await publish(ada, id, order())
    const [version] = (await ada.send('GET', `evi/canvases/${id}/versions`)).body.versions
    const restore = () =>
      ada.send('POST', `evi/canvases/${id}/versions/${version.id}/restore`, undefined, { 'idempotency-key': 'back' })
    const [first, again] = [await restore(), await restore()]
    expect(again.text).toBe(first.text)
    expect((await actionsOf(ada)).filter((action) => action === 'canvas.updated')).toHaveLength(1)
  })
})
