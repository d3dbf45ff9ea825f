import { describe, expect, test } from 'bun:test'
import { expectData } from '../../support/event-data'
import { freePort } from '../../support/free-port'
import { serveLocally } from '../../support/listening'
import { createWorkflowWorld } from './world'

const { world, made, ran } = await createWorkflowWorld()

/** What a receiver on loopback was sent. */
const heard: { method: string; url: URL; headers: Headers; text: string }[] = []
const receiver = serveLocally(async (request) => {
  const url = new URL(request.url)
  heard.push({ method: request.method, url, headers: request.headers, text: await request.text() })
  const { pathname } = url
  if (pathname === '/large') return new Response('{"id":9007199254740993}', JSON_TYPE)
  if (pathname === '/raw') return new Response(new Uint8Array([97, 0, 255, 98]))
  if (pathname === '/json') return Response.json({ total: 12 })
  return pathname === '/bad' ? new Response('no', { status: 500 }) : new Response('fine')
})
const JSON_TYPE = { headers: { 'content-type': 'application/json' } }
const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`
const outputs = (run: { stepResults: { output: unknown }[] }) => run.stepResults.map(({ output }) => output)

describe('a step (docs/api.md 10)', () => {
  test('transforms what came before, and the last output is the run’s', async () => {
    const ada = await world.person()
    const { run } = await ran(
      ada,
      [
        { type: 'transform', name: 'Sum', config: { template: { total: '{{trigger.a}}', say: 'is {{trigger.a}}' } } },
        { type: 'transform', config: { template: ['{{steps["Sum"].output.say}}', '{{previous.output.total}}'] } },
        { type: 'output', config: { format: 'json', template: '{{steps.1.output}}' } },
      ],
      { a: 3 },
    )
    expect(run).toMatchObject({
      status: 'completed',
      stepsCompleted: 3,
      output: ['is 3', 3],
      error: null,
      warnings: [],
    })
    expect(outputs(run)).toEqual([{ total: 3, say: 'is 3' }, ['is 3', 3], ['is 3', 3]])
  })

  test('writes a value out where a text is wanted', async () => {
    const steps = [{ type: 'approval', config: { message: '{{trigger.order}}' } }]
    const { run } = await ran(await world.person(), steps, { order: { id: 7 } })
    expect({ status: run.status, error: run.error }).toEqual({ status: 'paused', error: null })
  })

  test('says nothing in the name of the server', async () => {
    const steps = [{ type: 'event', config: { eventType: '{{trigger.type}}' } }]
    const { run } = await ran(await world.person(), steps, { type: 'job.completed' })
    expect(run.error).toContain(`"job.completed" is the name of a server event.`)
  })

  test('says which placeholder had no value', async () => {
    const { run } = await ran(await world.person(), [{ type: 'transform', config: { template: 'a{{trigger.no}}b' } }])
    expect(run.output).toBe('ab')
    expect(run.warnings).toEqual(['Step 0: {{trigger.no}} has no value.'])
  })

  test('branches on a condition, and what was not reached is skipped', async () => {
    const steps = [
      { type: 'condition', config: { expression: 'trigger.total > 10', onTrue: 1, onFalse: 2 } },
      { type: 'transform', config: { template: 'much' }, onSuccess: 3 },
      { type: 'transform', config: { template: 'little' } },
      { type: 'output', config: { format: 'text' } },
    ]
    const ada = await world.person()
    for (const [total, says, skipped] of [
      [11, 'much', 2],
      [9, 'little', 1],
    ] as const) {
      const { run } = await ran(ada, steps, { total })
      expect({ status: run.status, output: run.output }).toEqual({ status: 'completed', output: says })
      expect(run.stepResults.find(({ status }: { status: string }) => status === 'skipped').index).toBe(skipped)
    }
  })

  test('asks an engine with the text of the step before, charges it, and keeps it once', async () => {
    const ada = await world.person({ cents: 100 })
    const { run } = await ran(ada, [
      { type: 'transform', config: { template: 'the tides' } },
      { type: 'ai_transform', config: { prompt: 'Tell me of [[say:Water moves.]]', mode: 'fast' } },
      { type: 'output', config: { format: 'text' } },
    ])
    expect(run).toMatchObject({ status: 'completed', output: 'Water moves.' })
    const [, notice] = run.stepResults
    expect(notice.output).toMatchObject({ text: 'Water moves.', artifacts: [] })
    expect(notice.costCents).toBeGreaterThan(0)
    expect(JSON.stringify((await ada.send('GET', 'usage')).body)).toContain(String(notice.costCents))
  })

  test('gets data in the form that was asked for, and fails where the answer has another', async () => {
    const ada = await world.person()
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const ask = (text: string) => ({
      type: 'ai_transform',
      config: { prompt: `Count [[say:${text}]]`, mode: 'fast', output_schema: schema },
    })
    const good = (await ran(ada, [ask('{"n":4}')])).run
    expect(good.status).toBe('completed')
    expect(good.output.structured).toEqual({ n: 4 })
    const bad = (await ran(ada, [ask('four')])).run
    expect(bad.status).toBe('failed')
    expect(bad.error).toContain('JSON')
    expect(bad.stepResults[0].costCents).toBeGreaterThan(0)
  })

  test('calls an address with a key that is the same for each try, and reads JSON', async () => {
    const { run } = await ran(
      await world.person(),
      [
        {
          type: 'http',
          config: { url: at('/json'), method: 'POST', headers: { 'X-A': 'b' }, body: { a: '{{trigger.n}}' } },
        },
        { type: 'transform', config: { template: '{{previous.output.body.total}}' } },
      ],
      { n: 5 },
    )
    expect(run.output).toBe(12)
    const { method, headers, text } = heard.at(-1)!
    expect({ method, text, a: headers.get('x-a'), contentType: headers.get('content-type') }).toEqual({
      method: 'POST',
      text: '{"a":5}',
      a: 'b',
      contentType: 'application/json',
    })
    expect(headers.get('idempotency-key')).toBe(`${run.id}-0`)
  })

  test.each(['two words', 'R&D=fun', 'a/b?c#d', '100 % + 5', 'größe 🌾', '&page=9'])(
    'sends a value within a URL as one value: %s',
    async (q) => {
      const url = `${at('/echo')}/{{trigger.q}}/end?name={{trigger.q}}&page=2`
      expect((await ran(await world.person(), [{ type: 'http', config: { url } }], { q })).run.status).toBe('completed')
      const sent = heard.at(-1)!.url
      expect(sent.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'echo', q, 'end'])
      expect([...sent.searchParams]).toEqual([
        ['name', q],
        ['page', '2'],
      ])
    },
  )

  test('calls the address that a placeholder is, or begins with', async () => {
    const steps = [
      { type: 'http', config: { url: '{{trigger.whole}}' } },
      { type: 'http', config: { url: '{{trigger.base}}/x?q={{trigger.q}}' } },
      { type: 'http', config: { url: 'http://{{trigger.host}}/y/{{trigger.q}}' } },
    ]
    const host = `127.0.0.1:${receiver.port}`
    const data = { whole: at('/a/b?c=d&e=f'), base: at('/v1'), host, q: 'a&b' }
    const before = heard.length
    expect((await ran(await world.person(), steps, data)).run.status).toBe('completed')
    const urls = heard.slice(before).map(({ url }) => `${url.pathname}${url.search}`)
    expect(urls).toEqual(['/a/b?c=d&e=f', '/v1/x?q=a%26b', '/y/a%26b'])
  })

  test('reads names of any language, and keeps the digits of a number that JSON would change', async () => {
    const ada = await world.person()
    const template = '{{trigger.größe}} {{trigger.$x.ünï}} {{trigger.名前}}'
    const data = { größe: 42, $x: { ünï: 'a' }, 名前: 'b' }
    expect((await ran(ada, [{ type: 'transform', config: { template } }], data)).run.output).toBe('42 a b')
    const steps = [
      { type: 'http', config: { url: at('/large') } },
      { type: 'http', config: { url: at('/echo/{{previous.output.body.id}}') } },
    ]
    expect((await ran(ada, steps)).run.status).toBe('completed')
    expect(heard.at(-1)!.url.pathname).toBe('/echo/9007199254740993')
  })

  test('takes no trigger data whose numbers it would change', async () => {
    const ada = await world.person()
    const id = await made(ada, [{ type: 'transform', config: { template: '{{trigger.order}}' } }])
    const { status, body } = await ada.send('POST', `workflows/${id}/run`, '{"triggerData":{"order":9007199254740993}}')
    expect({ status, ...body.error }).toMatchObject({
      status: 400,
      code: 'validation_error',
      param: 'triggerData.order',
    })
  })

  test('sends no header that cannot be one: refused when it is saved, a failed step when data makes it one', async () => {
    const ada = await world.person()
    const call = (headers: object) => ({ type: 'http', config: { url: at('/json'), headers } })
    for (const headers of [{ 'a\nb': 'c' }, { a: 'b\r\nc: d' }, { a: '€' }]) {
      const steps = [{ ...call(headers), name: 'a' }]
      const { status, body } = await ada.send('POST', 'workflows', { name: 'F', triggerType: 'manual', steps })
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    }
    const before = heard.length
    const { run } = await ran(ada, [call({ a: '{{trigger.x}}' })], { x: 'b\r\nc: d' })
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('"headers.a"') })
    expect(heard).toHaveLength(before)
  })

  test('calls once a receiver that answers what no database can store, and keeps the rest of it', async () => {
    const before = heard.length
    const { run } = await ran(await world.person(), [{ type: 'http', config: { url: at('/raw'), method: 'POST' } }])
    expect(run.status).toBe('completed')
    expect(run.stepResults[0].output.body).toBe('a\ufffdb')
    expect(heard).toHaveLength(before + 1)
  })

  test('goes where a failure leads, and ends the run where it leads nowhere', async () => {
    const ada = await world.person()
    const call = { type: 'http', config: { url: `http://127.0.0.1:${await freePort()}/` } }
    const saved = (
      await ran(ada, [
        { ...call, onFailure: 1 },
        { type: 'transform', config: { template: 'saved' } },
      ])
    ).run
    expect(saved.status).toBe('completed')
    expect(saved.output).toBe('saved')
    expect(saved.stepResults[0].status).toBe('failed')
    const lost = (await ran(ada, [call, { type: 'transform', config: { template: 'never' } }])).run
    expect(lost.status).toBe('failed')
    expect(lost.stepResults.map(({ status }: { status: string }) => status)).toEqual(['failed', 'skipped'])
    expect(lost.error).toContain('Step "s0" failed')
  })

  test('reaches no address that is not public, also one that comes from data', async () => {
    const { run } = await ran(await world.person(), [{ type: 'http', config: { url: '{{trigger.url}}' } }], {
      url: 'http://169.254.169.254/latest',
    })
    expect(run.status).toBe('failed')
    expect(run.error).toContain('169.254.169.254')
  })

  test('tells somebody: signed to an address, on the bus, and by no mail where none is set up', async () => {
    const ada = await world.person()
    const notify = (channel: string, to: string) => ({
      type: 'notification',
      config: { channel, to, subject: 'Hi', body: 'Text' },
    })
    const { run } = await ran(ada, [notify('webhook', at('/fine')), notify('in_app', 'everyone')])
    expect(run.status).toBe('completed')
    expect(outputs(run)).toEqual([{ delivered: true }, { delivered: true }])
    const { events } = (await ada.send('GET', 'events?eventType=notification.created')).body
    await expectData(ada, ['notification.created'])
    expect(events[0].payload).toMatchObject({ to: 'everyone', subject: 'Hi', body: 'Text', run_id: run.id })
    expect(JSON.parse(heard.at(-1)!.text)).toMatchObject({ subject: 'Hi', body: 'Text', run_id: run.id })
    expect(heard.at(-1)!.headers.get('svc-webhook-signature')).toBeTruthy()
    expect((await ran(ada, [notify('webhook', at('/bad'))])).run.error).toContain('status 500')
    expect((await ran(ada, [notify('email', 'ada@example.com')])).run.error).toContain('SVC_SMTP_URL')
  })

  test('runs a tool, and says what is wrong with its arguments', async () => {
    const ada = await world.person()
    const tool = (code: unknown) => [{ type: 'tool', config: { name: 'code_execute', arguments: { code } } }]
    const { run } = await ran(ada, tool('console.log(6 * 7)'))
    expect(run.status).toBe('completed')
    expect(JSON.stringify(run.output)).toContain('42')
    expect((await ran(ada, tool(7))).run.status).toBe('failed')
    expect((await ran(ada, [{ type: 'tool', config: { name: 'no_such' } }])).run.error).toContain('no tool named')
  })

  test('publishes an event, once', async () => {
    const ada = await world.person()
    const { run } = await ran(
      ada,
      [{ type: 'event', config: { eventType: 'tide.turned', payload: { at: '{{trigger.at}}' } } }],
      { at: 5 },
    )
    const { events } = (await ada.send('GET', `events?eventType=tide.turned`)).body
    expect(events).toEqual([expect.objectContaining({ id: run.output.eventId, payload: { at: 5 } })])
  })

  test('ends a run that goes round and round (R11)', async () => {
    const { run } = await ran(await world.person(), [{ type: 'transform', config: { template: 1 }, onSuccess: 0 }])
    expect(run).toMatchObject({ status: 'failed', error: 'It took more than 200 steps.' })
  })
})
