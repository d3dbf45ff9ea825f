import type { Input, Work, WorkResult } from '../../../src/charging/kind'
import type { Call } from '../../../src/kernel/caller'
import { centsToMicro } from '../../../src/kernel/money'
import { PIXEL } from '../../files/support'
import type { Person, World } from '../../support/world'

const CENT = centsToMicro(1)

let made = 0

/** An order of up to `most` pictures of 4 cents each; `make` says what comes of it. */
export function inputOf(make: Input<WorkResult, unknown>['make'], more: { max?: number; free?: boolean } = {}) {
  made += 1
  return {
    kind: 'image' as const,
    id: `img_${String(made).padStart(24, '0')}`,
    mode: 'image',
    engineId: 'svc-1-create',
    free: more.free ?? false,
    texts: { prompt: 'a quiet lighthouse', style: 'flat' },
    max: { images: more.max ?? 2 },
    make,
    answer: ({ artifacts, costCents }: { artifacts: { id: string }[]; costCents: number }) => ({
      ids: artifacts.map(({ id }) => id),
      cost_cents: costCents,
    }),
  }
}

/** Keeps so many pictures and says that it used them. */
export const pictures =
  (count: number) =>
  async ({ keep, texts }: Work): Promise<WorkResult> => {
    const files: WorkResult['files'][number][] = []
    for (let n = 0; n < count; n += 1) {
      const about = { type: 'image' as const, filename: `${n}.png`, engine: 'svc-vision', model: 'svc-1-create' }
      files.push({ draft: await keep(PIXEL, 'image/png'), about: { ...about, prompt: texts.prompt! } })
    }
    return { used: { images: count }, files }
  }

export function makingIn(world: World) {
  const { billing, charging, limiter } = world.app.container
  return {
    limiter,
    run: (person: Person, input: ReturnType<typeof inputOf>, call: Partial<Call> = {}) =>
      charging.run({ ...world.callAs(person), route: 'POST /images', ...call }, input),
    walletOf: async ({ userId }: Person) => {
      const { balance, held } = await billing.balance(world.app.store.read, `user:${userId}`)
      return { cents: balance / CENT, held: held / CENT }
    },
    auditOf: async (person: Person) => (await person.send('GET', 'audit')).body as { action: string }[],
    usageOf: async (person: Person) => (await person.send('GET', 'usage')).body,
  }
}
