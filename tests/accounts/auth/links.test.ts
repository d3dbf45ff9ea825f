// Both databases: attempts and links are counted and used up by its statements.
import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { signInLinks } from '../../../src/accounts/auth/table'
import { sha256Hex } from '../../../src/kernel/crypto'
import { operatorSender } from '../../operators/support'
import { cliOver } from '../../support/cli'
import { mailServer } from '../../support/mail-server'
import { createWorld } from '../../support/world'

const post = await mailServer()
const world = await createWorld({
  config: { publicUrl: 'https://svc.example', opsListen: '127.0.0.1:0', ...post.config },
})
const run = cliOver(world)
const { container, store } = world.app
const HOST = { host: 'svc.example' }

let made = 0
/** An account without a password, and a link into it. */
async function linked() {
  const email = `guest.number${++made}@example.com`
  const { sign_in_link: link, id } = JSON.parse((await run(['users', 'create', email, '--link', '--json'])).stdout)
  return { email, link: link as string, token: new URL(link).hash.slice(1), id: id as string }
}
const send = (path: string, body: object, headers = {}) => world.send('POST', path, body, { ...HOST, ...headers })
const redeem = (token: string, new_password?: string) =>
  send('auth/links/redeem', { token, ...(new_password === undefined ? {} : { new_password }) })
const signIn = (email: string, password: string) => send('auth/sessions', { email, password })
const me = (token: string) => world.send('GET', 'auth/me', undefined, { ...HOST, authorization: `Bearer ${token}` })
/** Lets the time of a link run out, whichever clock that is. */
const expire = (token: string) =>
  store.write(async (tx) => {
    const t = tx.of(signInLinks)
    await tx
      .update(t)
      .set({ expires_at: 1 })
      .where(eq(t.token_hash, sha256Hex(token)))
  })

describe('a sign-in link', () => {
  test('has its token after the #, signs in and sets a password', async () => {
    const { email, link, token } = await linked()
    expect(link).toMatch(/^https:\/\/svc\.example\/sign-in\/link#svc_sl_\w{48}$/)
    const { status, body, headers } = await redeem(token, 'correct horse')
    expect({ status, email: body.user.email }).toEqual({ status: 201, email })
    expect(headers.get('set-cookie')).toMatch(/^svc_session=svc_ds_\w+; .*HttpOnly; SameSite=Strict; Secure$/)
    expect((await me(body.session_token)).body).toMatchObject({ user: { email }, has_password: true })
    expect((await signIn(email, 'correct horse')).status).toBe(201)
  })

  test('signs in without one, and the session may set it for 15 minutes', async () => {
    const { email, token } = await linked()
    const { session_token } = (await redeem(token)).body
    expect((await me(session_token)).body.has_password).toBe(false)
    const set = await send('auth/password', { new: 'chosen later' }, { authorization: `Bearer ${session_token}` })
    expect({ status: set.status, ended: set.body.ended }).toEqual({ status: 200, ended: 0 })
    expect((await signIn(email, 'chosen later')).status).toBe(201)
  })

  test('works once, also for several at the same time', async () => {
    const { email, token } = await linked()
    const passwords = ['first one', 'second one', 'third one', 'fourth one']
    const replies = await Promise.all(passwords.map((password) => redeem(token, password)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401])
    const over = await redeem(token, 'fifth one')
    expect({ status: over.status, code: over.body.error.code }).toEqual({ status: 401, code: 'invalid_token' })
    expect(over.body.error.message).toContain('Ask for a new one')
    const won = passwords[replies.findIndex(({ status }) => status === 201)]!
    for (const password of passwords) expect((await signIn(email, password)).status).toBe(password === won ? 201 : 401)
  })

  test('ends with its time, with the account, with a new password, and when a byte of it is another', async () => {
    const [old, gone, changed, forged] = [await linked(), await linked(), await linked(), await linked()]
    await expire(old.token)
    await run(['users', 'disable', gone.email, '-y'])
    expect((await run(['users', 'password', changed.email, '-y'])).exitCode).toBe(0)
    const wrong = [old, gone, changed].map(({ token }) => token)
    wrong.push(
      `${forged.token.slice(0, -1)}${forged.token.endsWith('0') ? '1' : '0'}`,
      'nothing',
      forged.token.slice(0, -1),
    )
    for (const token of wrong) {
      const { status, body } = await redeem(token, 'long enough')
      expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'invalid_token' })
    }
    expect((await redeem(forged.token)).status).toBe(201)
  })

  test('goes on working when a password is refused', async () => {
    const { email, token } = await linked()
    for (const password of [email, email.toUpperCase(), email.split('@')[0]!, ` ${email} `]) {
      const { status, body } = await redeem(token, password)
      expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'new_password' })
      expect(body.error.message).toContain('Choose another')
    }
    for (const password of ['short', 'x'.repeat(201)]) expect((await redeem(token, password)).status).toBe(400)
    expect((await redeem(token, 'long enough')).status).toBe(201)
  })

  test('is stored as a hash, stands in no log line, and who made and used it is on the record', async () => {
    const { email, id } = await linked()
    const { url, expires_at } = JSON.parse((await run(['users', 'link', email, '--ttl', '1h', '--json'])).stdout)
    expect(Date.parse(expires_at)).toBeGreaterThan(0)
    const token = new URL(url).hash.slice(1)
    const rows = await store.read.select().from(store.read.of(signInLinks))
    expect(rows.map(({ token_hash }) => token_hash)).toContain(sha256Hex(token))
    expect(JSON.stringify(rows)).not.toContain(token)
    await redeem(token, 'on the record')
    expect(world.logged.join('')).not.toContain(token)
    const audit = JSON.parse((await run(['audit', 'list', id, '--json'])).stdout)
    const actions = audit.map(({ action }: { action: string }) => action)
    for (const action of ['operator.console_link_created', 'auth.login', 'auth.password_set'])
      expect(actions).toContain(action)
    expect(JSON.stringify(audit)).not.toContain('on the record')
  })

  test('is removed when it is over', async () => {
    const { token } = await linked()
    await expire(token)
    expect(await container.signInLinks.tidy()).toBeGreaterThan(0)
    const rows = await store.read.select().from(store.read.of(signInLinks))
    expect(rows.map(({ token_hash }) => token_hash)).not.toContain(sha256Hex(token))
  })

  test('of an account with a platform role is made by an admin only', async () => {
    await run(['users', 'create', 'chief@example.com', '--role', 'admin', '--link'])
    const sue = (await operatorSender(world)('POST', 'operators', { name: 'sue', role: 'support' })).body.key
    const refused = await run(['users', 'link', 'chief@example.com'], { key: sue })
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('has a platform role') })
    expect((await run(['users', 'link', (await linked()).email], { key: sue })).exitCode).toBe(0)
    expect((await run(['users', 'link', 'chief@example.com'])).exitCode).toBe(0)
  })
})

describe('a link by mail', () => {
  const ask = (email: string) => send('auth/links', { email })

  test('comes to the account of the address, and the answer is the same without one', async () => {
    const { email } = await linked()
    const [known, unknown] = [await ask(email.toUpperCase()), await ask('nobody@example.com')]
    for (const { status, body } of [known, unknown])
      expect({ status, body: { ...body, request_id: '' } }).toEqual({
        status: 202,
        body: { accepted: true, request_id: '' },
      })
    await container.jobs.runDue('auth.link')
    const text = post.received.find((one) => one.includes(`To: ${email}`))
    expect(post.received.join('')).not.toContain('nobody@example.com')
    expect((await redeem(/svc_sl_\w{48}/.exec(text!.replace(/=\r?\n/g, ''))![0], 'by mail this time')).status).toBe(201)
    expect((await signIn(email, 'by mail this time')).status).toBe(201)
  })

  test('is not sent more than three times in 15 minutes, to any address', async () => {
    for (const email of [(await linked()).email, 'stranger@example.com']) {
      const statuses = []
      for (let n = 0; n < 4; n++) statuses.push((await ask(email)).status)
      expect(statuses).toEqual([202, 202, 202, 429])
    }
  })
})
