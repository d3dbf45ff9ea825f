import { describe, expect, test } from 'bun:test'
import { type Refusal, refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'

const world = await createWorld()
const TRANSFORM = { type: 'transform', name: 'Shape', config: { template: '{{trigger.a}}' } }
const flow = (more: object = {}) => ({ name: 'Flow', triggerType: 'manual', steps: [TRANSFORM], ...more })

describe('a workflow (docs/api.md 10)', () => {
  test('is made, read, listed, changed and deleted', async () => {
    const ada = await world.person()
    const { status, body } = await ada.send('POST', 'workflows', flow())
    expect(status).toBe(201)
    const { id } = body.workflow
    expect(body.workflow).toMatchObject({
      userId: ada.userId,
      name: 'Flow',
      triggerType: 'manual',
      triggerConfig: {},
      steps: [TRANSFORM],
      enabled: true,
      nextRunAt: null,
      lastRunAt: null,
    })
    expect((await ada.send('GET', 'workflows')).body.workflows).toEqual([body.workflow])
    expect((await ada.send('GET', `workflows/${id}`)).body.workflow).toEqual(body.workflow)
    const changed = await ada.send('PATCH', `workflows/${id}`, { name: 'Other', enabled: false })
    expect(changed.body.workflow).toMatchObject({ name: 'Other', enabled: false, steps: [TRANSFORM] })
    expect((await ada.send('DELETE', `workflows/${id}`)).body).toMatchObject({ deleted: true })
    expect((await ada.send('GET', `workflows/${id}`)).status).toBe(404)
    const actions = (await ada.send('GET', `audit?entity_id=${id}`)).body.map((one: { action: string }) => one.action)
    expect(actions).toEqual(['workflow.deleted', 'workflow.updated', 'workflow.created'])
  })

  test('says what is missing', async () => {
    const ada = await world.person()
    for (const [body, names] of [
      [{}, ['name', 'triggerType', 'steps']],
      [{ name: 'a', triggerType: 'manual' }, ['steps']],
      [{ ...flow(), steps: [] }, ['steps']],
      [{ ...flow(), name: ' ' }, ['name']],
    ] as const) {
      const { status, body: message } = await ada.send('POST', 'workflows', body)
      expect({ status, code: message.error.code }).toEqual({ status: 400, code: 'missing_fields' })
      for (const name of names) expect(message.error.message).toContain(`"${name}"`)
    }
  })

  test('with a schedule knows when it runs next, in its time zone', async () => {
    const ada = await world.person()
    const triggerConfig = { cron: '30 9 * * 1', timezone: 'Europe/Vienna' }
    const { body } = await ada.send('POST', 'workflows', flow({ triggerType: 'schedule', triggerConfig }))
    const next = new Date(body.workflow.nextRunAt)
    const parts = new Intl.DateTimeFormat('en', {
      timeZone: 'Europe/Vienna',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(next)
    expect(parts).toBe('Mon 09:30')
    expect(next.getTime()).toBeGreaterThan(Date.now())
    const off = await ada.send('PATCH', `workflows/${body.workflow.id}`, { enabled: false })
    expect(off.body.workflow.nextRunAt).toBeNull()
  })
})

const step = (type: string, config: object, more: object = {}) =>
  flow({ steps: [{ type, name: 'a', config, ...more }] })
const REFUSED: [what: string, workflow: object, param: string][] = [
  ['an unknown trigger', flow({ triggerType: 'never' }), 'triggerType'],
  ['a schedule without a time', flow({ triggerType: 'schedule' }), 'triggerConfig.cron'],
  [
    'a schedule of every minute',
    flow({ triggerType: 'schedule', triggerConfig: { cron: '* * * * *' } }),
    'triggerConfig.cron',
  ],
  [
    'a zone that is none',
    flow({ triggerType: 'schedule', triggerConfig: { cron: '0 9 * * *', timezone: 'Mars/Base' } }),
    'triggerConfig.timezone',
  ],
  [
    'a schedule in an offset, which is no time zone',
    flow({ triggerType: 'schedule', triggerConfig: { cron: '0 9 * * *', timezone: '+02:00' } }),
    'triggerConfig.timezone',
  ],
  ['an event without a pattern', flow({ triggerType: 'event' }), 'triggerConfig.eventPattern'],
  [
    'a filter that is no expression',
    flow({ triggerType: 'event', triggerConfig: { eventPattern: 'a.b', filter: 'trigger.x ===' } }),
    'triggerConfig.filter',
  ],
  ['an unknown type of step', step('teleport', {}), 'steps[0].type'],
  ['a prompt that is missing', step('ai_transform', {}), 'steps[0].config.prompt'],
  ['an engine that is none', step('ai_transform', { prompt: 'a', model: 'gpt-9' }), 'steps[0].config.model'],
  [
    'a schema that is none',
    step('ai_transform', { prompt: 'a', output_schema: { type: 'odd' } }),
    'steps[0].config.output_schema.type',
  ],
  ['a jump behind the end', step('transform', { template: 1 }, { onSuccess: 1 }), 'steps[0].onSuccess'],
  ['a branch behind the end', step('condition', { expression: 'true', onTrue: 7 }), 'steps[0].config.onTrue'],
  ['an expression with code (R13)', step('condition', { expression: 'process.exit()' }), 'steps[0].config.expression'],
  ['a placeholder of nothing', step('transform', { template: '{{env.KEY}}' }), 'steps[0].config.template'],
  ['a method of our own', step('http', { url: 'https://example.com', method: 'BREW' }), 'steps[0].config.method'],
  ['a wait without an end', step('delay', {}), 'steps[0].config.seconds'],
  ['a wait of two ends', step('delay', { seconds: 5, until: '2030-01-01T00:00:00Z' }), 'steps[0].config.seconds'],
  ['a recipient that is none', step('notification', { channel: 'email', to: 'ada' }), 'steps[0].config.to'],
  ['an event that is none', step('event', { eventType: 'A B' }), 'steps[0].config.eventType'],
  ['an event of the server', step('event', { eventType: 'job.completed' }), 'steps[0].config.eventType'],
  ['too many steps', flow({ steps: Array.from({ length: 51 }, () => TRANSFORM) }), 'steps'],
]
const eve = await world.person()
refusals('POST /workflows refuses', { world, as: eve, request: 'POST workflows' }, [
  ...REFUSED.map(([what, workflow, param]): Refusal => [what, workflow, '', { param }]),
  [
    'a private address',
    step('http', { url: 'http://169.254.169.254/' }),
    'it is not a public address',
    { code: 'url_blocked', param: 'steps[0].config.url' },
  ],
])

test('what was refused is no workflow', async () => {
  expect((await eve.send('GET', 'workflows')).body.workflows).toEqual([])
})
