import type { Person, World } from '../../../support/world'
import { widgetsIn } from '../../../widgets/world'

type Made = { id: string }

/** One thing of every kind for `person`, made through the API; returns what their rows open, with a text of each. */
export async function furnish({
  world,
  person,
}: {
  world: World
  person: Person
}): Promise<[path: string, text: string][]> {
  const make = async <T = Made>(path: string, body: object, method = 'POST'): Promise<T> => {
    const { status, body: made, text } = await person.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
    return made
  }
  const preference = await make('routing-preferences', {
    name: 'Support',
    description: 'Orders go to the fast engine.',
    rules: [{ pattern: '\\border\\b', target_mode: 'fast', confidence: 0.95, description: 'Orders' }],
    examples: [{ prompt: 'Where is my parcel?', expected_mode: 'fast' }],
  })
  const correction = await make('routing-corrections', {
    prompt: 'Write a poem about lamps',
    resolved_mode: 'code',
    expected_mode: 'fast',
  })
  await make('test-cases', {
    name: 'A lamp in a haiku',
    tags: ['release'],
    request: { prompt: 'Write a haiku about a lamp.', mode: 'fast' },
    checks: [{ type: 'contains', value: 'lamp' }],
  })
  const policy = await make('guardrail-policies', {
    name: 'Personal data',
    rules: [
      { guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} },
      { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 4_000 } },
    ],
  })
  const { skill } = await make<{ skill: Made }>('skills/create', {
    name: 'Ship notes',
    slug: 'ship-notes',
    category: 'productivity',
    description: 'Writes the notes of a release.',
    system_prompt_ext: 'Write short notes of a release.',
  })
  await make('skills', { slug: 'email-drafter' })
  await make('webhooks', { url: 'https://203.0.112.7/hook', event_types: ['order.refunded'] })
  await make('completions', { prompt: 'Count to three', mode: 'fast' })
  const steps = [
    { type: 'transform', name: 'Greet', config: { template: 'Hello {{trigger.name}}' } },
    { type: 'approval', name: 'A person checks', config: { message: 'Is this right?' } },
    { type: 'output', name: 'Answer', config: { format: 'text' } },
  ]
  const { workflow } = await make<{ workflow: Made }>('workflows', { name: 'Greeting', triggerType: 'manual', steps })
  await make(`workflows/${workflow.id}/run`, { triggerData: { name: 'Ada' } })
  const node = (id: string, type: string, label: string, config: object) => ({ id, type, data: { label, config } })
  const { canvas } = await make<{ canvas: Made }>('evi/canvases', {
    name: 'Answer in one sentence',
    graph_json: {
      nodes: [
        node('in', 'input', 'Question', { triggerType: 'manual' }),
        node('prompt', 'prompt', 'Instructions', { content: 'Answer in one sentence.' }),
        node('model', 'model', 'Answer', { modelId: 'svc-1-flash' }),
        node('out', 'output', 'Reply', { format: 'text' }),
      ],
      edges: [
        { source: 'in', target: 'prompt' },
        { source: 'prompt', target: 'model' },
        { source: 'model', target: 'out' },
      ],
    },
  })
  const hook = await make('hooks', {
    event_pattern: 'order.created',
    skill_slug: 'email-drafter',
    name: 'Thank the buyer',
  })
  await make('events', {
    orgId: person.orgId ?? person.userId,
    eventType: 'order.created',
    payload: { order: 7, amount: 120 },
  })
  const shop = widgetsIn(world)
  const { id } = await shop.widget({}, person)
  await make(
    `iframes/${id}`,
    { name: 'Lamp shop', appearance: { title: 'Lamp shop', primaryColor: '#0f5c4a' } },
    'PATCH',
  )
  const chat = await shop.begin(id, { page_url: 'https://shop.example/lamps/oak' })
  await shop.asVisitor(chat)('POST', '/identify', {
    name: 'Ines',
    email: 'ines@example.com',
    context: { cart: '2 lamps' },
  })
  await shop.say(chat, 'What is 12 * 7?')
  await shop.asVisitor(chat)('POST', '/request-human', { reason: 'A discount' })
  return [
    [`routing/${preference.id}`, 'Try a prompt'],
    [`routing/${correction.id}?tab=corrections`, 'Suggest a rule'],
    [`guardrails/${policy.id}`, 'Try a text'],
    [`skills/${skill.id}?tab=mine`, 'Versions'],
    [`workflows/${workflow.id}`, '3 steps'],
    [`workflows/${canvas.id}?tab=canvases`, 'Leads to'],
    [`workflows/${hook.id}?tab=hooks`, 'Result'],
    [`widgets/${id}`, 'Preview'],
    [`inbox/${id}.${chat.sessionId}`, 'About the visitor'],
  ]
}
