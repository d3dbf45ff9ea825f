import { describe, expect, test } from 'bun:test'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('the recording of a session (docs/api.md 28.3)', async () => {
  const world = await createBrowsingWorld()
  const person = await world.person()
  const site = serveSite({
    '/': '<title>In</title><label>User <input></label><label>Password <input type="password"></label><button>Go</button>',
  })
  const read = async (id: string) => (await person.send('GET', `browser/sessions/${id}/recording`)).body

  test('has what was done, with small pictures, never a password, and a page that plays it', async () => {
    const session = await startSession(person, { url: site.url() })
    await session.act('type ada in User')
    await session.act('type hunter2secret in Password')
    await session.act('type %pw% in Password', { variables: { pw: 'hunter3secret' } })
    await session.act('click Nowhere')
    const { actions, player_url, ended_at } = await read(session.id)
    expect(ended_at).toBeNull()
    expect(actions.map(({ by, tool, ok }: Record<string, unknown>) => [by, tool, ok])).toEqual([
      ['api', 'browser_act', true],
      ['api', 'browser_act', true],
      ['api', 'browser_act', true],
      ['api', 'browser_act', false],
    ])
    expect(actions[0]).toMatchObject({
      input: 'type ada in User',
      target: { role: 'textbox', name: 'User' },
      url: site.url(),
    })
    expect(JSON.stringify(actions)).not.toMatch(/hunter/)
    const frame = await world.download(actions[0].frame_url)
    expect(frame.headers.get('content-type')).toBe('image/jpeg')
    expect((await frame.arrayBuffer()).byteLength).toBeLessThanOrEqual(60 * 1024)
    await session.end()
    expect((await read(session.id)).ended_at).not.toBeNull()
    const played = await world.download(player_url)
    expect(played.status).toBe(200)
    expect(await played.text()).toContain('id="recording"')
    // The link of the player opens no live view.
    expect((await world.download(player_url.replace('/recording', ''))).status).toBe(401)
    expect((await world.download(player_url.replace(/.$/, '!'))).status).toBe(401)
    // It dies with the key.
    expect((await (await world.signedIn(person)).send('DELETE', `keys/${person.keyId}`)).status).toBe(200)
    expect((await world.download(player_url)).status).toBe(401)
  }, 180_000)

  test('is empty for a session that keeps none', async () => {
    const other = await world.person()
    const session = await startSession(other, { url: site.url(), record: false })
    await session.act('type ada in User')
    expect((await other.send('GET', `browser/sessions/${session.id}/recording`)).body.actions).toEqual([])
  })
})
