import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/kernel/clock'
import { DEV_OWNER } from '../../src/kernel/user-folder'
import { cliOver } from '../support/cli'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
world.app.listensAt('http://0.0.0.0:3400')
const run = cliOver(world)
const folder = temporaryFolder('svc-open-')
const LINK = /^http:\/\/127\.0\.0\.1:3400\/sign-in\/link#(svc_sl_\w{48})$/

/** A program in place of a browser that ends like this. */
function program(name: string, does: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${does}\n`, { mode: 0o755 })
  return path
}
const open = async (words: string[], env: Record<string, string>) => {
  const { stdout, stderr, exitCode } = await run(['open', ...words, '--json'], { env, clock: systemClock })
  return { ...(stdout ? JSON.parse(stdout) : {}), stderr, exitCode }
}

describe('svc-admin open home', () => {
  test('names no one while there are no accounts, or several', async () => {
    expect((await open(['home', '--print'], {})).stderr).toContain('There is no account yet.')
    await run('users create ada@example.com')
    expect((await open(['home', '--print'], {})).url).toMatch(LINK)
    await run('users create bob@example.com')
    const several = await open(['home', '--print'], {})
    expect(several.exitCode).toBe(2)
    expect(several.stderr).toContain('--for EMAIL')
    expect((await open(['home', '--print', '--for', 'nobody@example.com'], {})).exitCode).toBe(3)
    expect((await open(['docs', '--print', '--for', 'ada@example.com'], {})).exitCode).toBe(2)
  })

  test('opens a browser with a link that signs in, as the owner of the first start', async () => {
    await run(['users', 'create', DEV_OWNER])
    const question = join(folder, 'asked')
    const { url, opened, stderr } = await open(['home'], { BROWSER: program('good', `printf %s "$1" > ${question}`) })
    expect({ opened, stderr }).toEqual({ opened: true, stderr: '' })
    expect(readFileSync(question, 'utf8')).toBe(url)
    const redeemed = await world.send('POST', 'auth/links/redeem', { token: LINK.exec(url)![1] })
    expect({ status: redeemed.status, email: redeemed.body.user.email }).toEqual({ status: 201, email: DEV_OWNER })
  })

  test.each([
    ['has no browser', {}],
    ['has one that fails', { BROWSER: program('bad', 'exit 3') }],
    ['has no such program', { BROWSER: join(folder, 'none') }],
  ])('says so where this machine %s', async (_, env) => {
    const { opened, stderr, url } = await open(['home'], env as Record<string, string>)
    expect(opened).toBe(false)
    expect(stderr).toContain('This machine cannot open a web browser.')
    expect(url).toMatch(LINK)
  })
})
