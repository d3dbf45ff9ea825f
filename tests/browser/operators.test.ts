import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorSender } from '../operators/support'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { cli } from '../support/io'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('what operators do with the sessions of everyone (docs/operating.md 2.15)', async () => {
  const world = await createBrowsingWorld()
  const send = operatorSender(world)
  const run = cliOver(world)
  const site = serveSite({
    '/': '<title>Shop</title><button onclick="document.title=\'Sold\'">Buy</button><p>Price: $5.00</p>',
  })
  const json = async (line: string[], options = {}) => JSON.parse((await run([...line, '--json'], options)).stdout)

  /** A program that stands for the web browser of this machine: it keeps the address that it is given. */
  async function opensIn(place: string, id: string) {
    const program = join(place, 'browser.sh')
    writeFileSync(
      program,
      `#!/bin/sh\nprintf %s "$1" > "${place}/opened.part" && mv "${place}/opened.part" "${place}/opened"\n`,
    )
    chmodSync(program, 0o755)
    expect((await json(['browser', 'open', id], { env: { BROWSER: program } })).rights).toBe('view')
    await eventually(() => existsSync(join(place, 'opened')))
    expect(readFileSync(join(place, 'opened'), 'utf8')).toContain(`/embed/browser/${id}?token=`)
  }

  test('they see them, without a link; each link they make is in the chain of its owner', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [one, other] = [await startSession(ada, { url: site.url() }), await startSession(eve)]
    const { sessions } = (await send('GET', 'browser/sessions')).body
    expect(sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([one.id, other.id])
    expect(sessions[0]).toMatchObject({ owner: `user:${ada.userId}`, embed_url: null, live_view_url: null, viewers: 0 })
    const hers = (await send('GET', `browser/sessions?owner=user:${eve.userId}`)).body.sessions
    expect(hers.map(({ session_id }: { session_id: string }) => session_id)).toEqual([other.id])
    expect((await send('GET', 'browser/sessions?owner=nobody')).status).toBe(404)
    expect((await send('GET', 'browser/sessions/bb_sess_x')).body.error.code).toBe('session_not_found')

    const view = (await send('POST', `browser/sessions/${one.id}/link`, {})).body
    const control = (await send('POST', `browser/sessions/${one.id}/link`, { control: true })).body
    expect({ view: view.rights, control: control.rights }).toEqual({ view: 'view', control: 'control' })
    for (const { url } of [view, control]) expect((await world.download(url)).status).toBe(200)
    expect((await ada.send('GET', 'audit')).body.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'browser.link_created',
      'browser.link_created',
    ])
    await one.end()
    await other.end()
    expect((await send('POST', `browser/sessions/${one.id}/link`, {})).status).toBe(404)
  }, 180_000)

  test('they act in one and end it, which its owner pays and can read', async () => {
    const ada = await world.person()
    const session = await startSession(ada, { url: site.url() })
    const input = { tool: 'browser_act', arguments: { instruction: 'click Buy' } }
    expect((await send('POST', `browser/sessions/${session.id}/actions`, input)).body).toMatchObject({
      status: 'success',
      live_view_version: 2,
    })
    expect((await send('GET', `browser/sessions/${session.id}/recording`)).body.actions).toHaveLength(1)
    const ended = (await send('DELETE', `browser/sessions/${session.id}`)).body
    expect((await session.end()).body).toMatchObject({ ...ended, request_id: expect.any(String) })
    expect((await ada.send('GET', `browser/sessions/${session.id}`)).body.ended_reason).toBe('call')
    expect((await ada.send('GET', 'audit')).body.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'browser.session_ended',
      'browser.action',
    ])
  }, 180_000)

  test('browser doctor starts the browser of this machine; one that is off or no program fails', async () => {
    const checks = async (browserPath: string) => {
      const file = join(world.folder, 'doctor.json')
      writeFileSync(file, JSON.stringify({ browserPath }))
      const { stdout, exitCode } = await cli(['browser', 'doctor', '--json', '--config', file], { clock: world.clock })
      const found: { check: string; status: string; detail: string; fix: string | null }[] = JSON.parse(stdout)
      return { exitCode, found, of: Object.fromEntries(found.map(({ check, status }) => [check, status])) }
    }
    const here = await checks('')
    expect(here.found.map(({ check }) => check)).toEqual(['browser', 'start', 'frame', 'sandbox', 'fonts'])
    expect(here.of).toMatchObject({ browser: 'ok', start: 'ok', frame: expect.stringMatching(/ok|warn/) })
    expect(here.found[1]!.detail).toMatch(/Chrom\S+\/\d+\S* in \d+ ms/)
    expect(here.found[2]!.detail).toMatch(/after \d+ ms/)
    const none = await checks('/nowhere/chromium')
    expect(none).toMatchObject({ exitCode: 9, of: { browser: 'fail', start: 'skip', fonts: 'skip' } })
    expect(none.found[0]!.fix).toContain('config explain')
    expect((await checks('off')).of).toMatchObject({ browser: 'skip', start: 'skip' })
  }, 180_000)

  test('svc-admin browser does all of it, for operators and with a key', async () => {
    const { folder } = world
    const ada = await world.person()
    const made = await json(['browser', 'create', '--page', site.url()], { key: ada.key })
    const id: string = made.session_id
    expect(made.embed_url).toContain('/embed/browser/')
    for (const options of [{}, { key: ada.key }]) {
      const found = await json(['browser', 'list'], options)
      expect(found.map(({ session_id }: { session_id: string }) => session_id)).toEqual([id])
      expect(await json(['browser', 'get', id], options)).toMatchObject({ current_url: site.url(), status: 'active' })
      expect((await json(['browser', 'live', id, '--read-only'], options)).rights).toBe('view')
      expect((await json(['browser', 'live', id], options)).url).toContain('.control.')
    }
    const short = await json(['browser', 'live', id, '--ttl', '2m'])
    expect(Date.parse(short.expires_at)).toBeLessThanOrEqual(world.clock.now() + 120_000)
    expect((await run(['browser', 'live', id, '--ttl', '2h'])).exitCode).toBe(2)
    expect((await run(['browser', 'live', id, '--ttl', '2m'], { key: ada.key })).exitCode).toBe(2)
    await opensIn(folder, id)
    for (const options of [{}, { key: ada.key }] as { key?: string }[]) {
      const out = join(folder, 'page.png')
      const taken = await json(
        ['browser', 'screenshot', id, '--out', out, ...(options.key ? ['--full-page'] : [])],
        options,
      )
      expect(taken).toMatchObject({ session_id: id, file: out, width: 1280 })
      expect([...readFileSync(out).subarray(1, 4)]).toEqual([...Buffer.from('PNG')])
      expect(readFileSync(out)).toHaveLength(taken.size_bytes)
      rmSync(out)
    }
    expect((await run(['browser', 'screenshot', id])).exitCode).toBe(2)
    const acted = await json(['browser', 'act', id, 'click Buy'], { key: ada.key })
    expect(acted).toMatchObject({ tool: 'browser_act', status: 'success' })
    expect((await json(['browser', 'act', id, 'every price', '--tool', 'extract'])).result).toEqual({ data: ['$5.00'] })
    expect((await run(['browser', 'act', id, 'click Nowhere'])).exitCode).toBe(9)
    expect(await json(['browser', 'steps', id])).toMatchObject([
      { tool: 'browser_screenshot', ok: true },
      { tool: 'browser_screenshot', ok: true },
      { by: 'api', input: 'click Buy', ok: true, after_s: expect.any(Number) },
      { input: 'every price', ok: true },
      { input: 'click Nowhere', ok: false },
    ])
    expect((await run(['browser', 'end'], { key: ada.key })).exitCode).toBe(2)
    const ended = await json(['browser', 'end', '--all', '--yes'], { key: ada.key })
    expect(ended).toMatchObject([{ session_id: id, proxy_bytes: 0 }])
    for (const line of [['watch'], ['steps', '-f']]) {
      const watched = await run(['browser', line[0]!, id, ...line.slice(1)])
      expect(
        watched.stdout
          .trim()
          .split('\n')
          .map((text) => JSON.parse(text).ok),
      ).toEqual([true, true, true, true, false])
      expect(watched.stderr).toContain('It ended at')
    }
    expect((await run(['browser', 'live', id], { key: ada.key })).exitCode).toBe(9)
    expect((await run(['browser', 'list'])).stderr).toContain('No browser session is open.')
  }, 180_000)
})
