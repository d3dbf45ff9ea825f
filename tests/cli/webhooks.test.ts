// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { wrongWith } from '../../cli/commands/webhooks-local'
import { systemClock } from '../../src/kernel/clock'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from '../webhooks/support'

const world = await createWorld({ config: LOCAL })
const { deliver } = webhooksIn(world)
const run = cliOver(world)
const { json } = run

describe('webhooks', () => {
  test('are created with their secret shown once, changed, tested, looked at and deleted', async () => {
    const { key } = await world.person()
    let status = 500
    const receiver = createReceiver(() => new Response(null, { status }))
    const made = await json(`webhooks create ${receiver.url} --events order.* --description shop`, {
      key,
    })
    expect(made).toMatchObject({ url: receiver.url, event_types: ['order.*'], description: 'shop' })
    expect(made.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const listed = await run('webhooks list', { key })
    expect(listed.stdout).toContain(made.id.slice(0, 8))
    expect(listed.stdout).not.toContain(made.signing_secret)
    expect((await json(`webhooks update ${made.id} --events order.created`, { key })).updated).toBe(true)

    const published = await json('events publish order.created --source shop', { key })
    expect(published).toMatchObject({ eventType: 'order.created', sourceConnector: 'shop', matchedWebhooks: 1 })
    await deliver()
    const [failed] = await json('deliveries list --status failed', { key })
    expect(failed).toMatchObject({ http_status: 500, error_message: 'http_5xx', event_id: published.id })
    expect(await json(['deliveries', 'get', failed.id.slice(0, 8)], { key })).toEqual(failed)
    const sent = await json(`deliveries get ${failed.id} --body`, { key })
    expect(sent.url).toEqual(receiver.url)
    expect(sent.headers['webhook-id']).toEqual(published.id)
    expect(sent.ended).toBe(null)
    expect(JSON.parse(sent.body)).toMatchObject({ id: published.id, type: 'order.created' })
    expect((await run('audit list --action webhook.delivery_read --json', { key })).stdout).toContain(made.id)
    expect((await run(`deliveries get ${failed.id}`, { key })).stderr).toContain('try 1 failed 500 http_5xx at ')
    expect(await json('deliveries list --http 5xx --since 1h', { key })).toEqual([failed])
    expect(await json('deliveries list --http 404', { key })).toEqual([])
    for (const only of ['--limit 1', `--webhook ${failed.webhook_id.slice(0, 8)} --status failed`])
      expect(await json(`deliveries list ${only}`, { key })).toEqual([failed])
    expect((await run('deliveries list --http odd', { key })).exitCode).toBe(2)
    status = 200
    expect(await json(`deliveries replay ${failed.id}`, { key })).toMatchObject([{ retried: true }])
    await deliver()
    const stats = await json(`webhooks stats ${made.id}`, { key })
    expect(stats).toMatchObject({ deliveries: { total: 2, successes: 1 }, p95_ms: expect.any(Number) })
    expect(await json('webhooks stats', { key })).toMatchObject([{ webhook_id: made.id, p95_ms: stats.p95_ms }])
    const exported = (await run('deliveries export -o jsonl', { key })).stdout.trim().split('\n')
    expect(exported.map((line) => JSON.parse(line).status)).toEqual(['success', 'failed'])
    const csv = (await run('deliveries export --status failed', { key })).stdout.trim().split('\n')
    expect(csv).toHaveLength(2)
    expect(csv[0]).toContain('id,event_type,status,http_status')
    status = 404
    let isAnswered = false
    const waiting = run(`deliveries replay ${failed.id} --wait`, { key, clock: systemClock })
    void waiting.finally(() => {
      isAnswered = true
    })
    await eventually(async () => {
      await deliver()
      return isAnswered
    })
    expect(await waiting).toMatchObject({ exitCode: 9, stdout: expect.stringContaining('http_4xx') })
    status = 200
    await json(`deliveries replay ${failed.id}`, { key })
    await deliver()
    const replayed = await run('deliveries replay --all --yes', { key })
    expect(replayed.stdout + replayed.stderr).toContain('No failed delivery')
    expect((await json('events list --type order.created', { key }))[0].id).toBe(published.id)
    expect((await json('events list --type order.*', { key }))[0].id).toBe(published.id)

    const testing = json(`webhooks test ${made.id}`, { key, clock: systemClock })
    let isOver = false
    void testing.finally(() => {
      isOver = true
    })
    await eventually(async () => {
      await deliver()
      return isOver
    })
    expect(await testing).toMatchObject({ status: 'success', event_type: 'completion.created' })
    const rotated = await json(`webhooks rotate-secret ${made.id} --yes`, { key })
    expect(rotated.signing_secret).not.toBe(made.signing_secret)
    expect((await json(`webhooks disable ${made.id}`, { key })).enabled).toBe(false)
    expect((await json(`webhooks enable ${made.id}`, { key })).enabled).toBe(true)
    expect((await run(`webhooks delete ${made.id}`, { key })).exitCode).toBe(2)
    expect(await json(`webhooks delete ${made.id} --yes`, { key })).toMatchObject({ deleted: true })
    expect((await run(`webhooks get ${made.id}`, { key })).exitCode).toBe(3)
  })

  test('are seen and made for others by operators', async () => {
    const ada = await world.person()
    const made = await json(`webhooks create https://203.0.112.7/hook --org user:${ada.userId}`)
    expect((await ada.send('GET', `webhooks/${made.id}`)).body.event_types).toEqual(['*'])
    expect(await json(`webhooks list --org user:${ada.userId}`)).toMatchObject([{ id: made.id }])
    const event = await json(`events publish order.created --org user:${ada.userId}`)
    expect(event).toMatchObject({ orgId: ada.userId, matchedWebhooks: 1 })
    expect((await run('webhooks create http://10.0.0.1/ --json')).stderr).toContain('url_blocked')
  })
})

test('a file whose numbers would lose digits is not published', async () => {
  const [file, yaml] = [join(world.folder, 'order.json'), join(world.folder, 'order.yaml')]
  for (const [path, text] of [
    [file, '{"account":12345678901234567891}'],
    [yaml, 'account: 9007199254740993'],
  ] as const) {
    writeFileSync(path, text)
    const { exitCode, stderr } = await run(`events publish order.created -f ${path}`)
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('put it in quotes') })
  }
  const ada = await world.person()
  writeFileSync(file, '{"account":"12345678901234567891","even":9007199254740994}')
  const sent = await json(`events publish order.created -f ${file}`, { key: ada.key })
  expect(sent.payload).toEqual({ account: '12345678901234567891', even: 9007199254740994 })
})

describe('signatures', () => {
  const secret = '8f3a1b2c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f10'
  const body = '{"id":"evt_01","type":"order.created","data":{"a":1}}'
  const timestamp = 1_767_225_600
  const signature = signatureHeaders({ id: 'evt_01', timestampS: timestamp, body, secret })['svc-webhook-signature']!
  const good = { body, secret, timestamp, signature, nowS: timestamp + 10 }

  test('are made and verified from files', async () => {
    const [bodyFile, secretFile] = [join(world.folder, 'body.json'), join(world.folder, 'hook.secret')]
    writeFileSync(bodyFile, body)
    writeFileSync(secretFile, `${secret}\n`)
    const files = [bodyFile, '--secret-file', secretFile]
    const signed = await json(['webhooks', 'sign', ...files])
    expect(signed['svc-webhook-id']).toBe('evt_01')
    const headers = [
      ['--timestamp', signed['svc-webhook-timestamp']],
      ['--signature', signed['svc-webhook-signature']],
    ].flat()
    expect(await json(['webhooks', 'verify', ...files, ...headers])).toEqual({ ok: true, why: null })
    const standard = ['--timestamp', signed['webhook-timestamp'], '--signature', signed['webhook-signature']]
    expect(await json(['webhooks', 'verify', ...files, ...standard])).toEqual({ ok: true, why: null })
    writeFileSync(bodyFile, `${body} `)
    expect((await run(['webhooks', 'verify', ...files, ...standard, '--json'])).exitCode).toBe(9)
    expect((await run(['webhooks', 'verify', ...files, ...headers, '--json'])).exitCode).toBe(9)
  })

  test('are those of Standard Webhooks, of which one is enough during a rotation', () => {
    const encoded = 'whsec_dHdlbnR5LWZvdXIgYnl0ZXMgc2VjcmV0'
    const by = (one: string) =>
      signatureHeaders({ id: 'evt_01', timestampS: timestamp, body, secret: one })['webhook-signature']!
    expect(by(encoded)).toBe(new Webhook(encoded).sign('evt_01', new Date(timestamp * 1_000), body))
    const both = `${by(secret)} ${by(encoded)}`
    for (const one of [secret, encoded]) expect(wrongWith({ ...good, secret: one, signature: both })).toBeNull()
    for (const one of ['too short for it', `${secret}0`])
      expect(wrongWith({ ...good, secret: one, signature: `${both} ` })).toContain('differs from what was signed')
  })

  test.each([
    ['nothing', {}, null],
    ['its version (J37)', { signature: signature.replace('v1', 'v2') }, 'does not start with v1='],
    ['that it is empty (J37)', { signature: 'v1=' }, '64 lower-case'],
    ['its case (J37)', { signature: `v1=${signature.slice(3).toUpperCase()}` }, '64 lower-case'],
    ['its length (J37)', { signature: signature.slice(0, -1) }, '64 lower-case'],
    ['the secret (J37)', { secret: '' }, 'differs from what was signed'],
    ['a line break at the end', { body: `${body}\n` }, 'line break'],
    ['new spaces', { body: JSON.stringify(JSON.parse(body), null, 1) }, 'parsed and serialized again'],
    ['its age', { nowS: timestamp + 301 }, '301 seconds'],
  ])('that are wrong are told apart: %s', (_, change, why) => {
    const text = wrongWith({ ...good, ...change })
    if (why === null) expect(text).toBeNull()
    else expect(text).toContain(why)
  })
})
