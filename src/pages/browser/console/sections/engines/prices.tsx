import type { EnginePrice } from '../../../../../operators/schema-engines'
import { defineScreen } from '../../shell/screen'
import { column, moneyColumn } from '../../ui/columns'
import { money } from '../../ui/format'

/** The unit of each price, and the number of millionths of a cent that equal one dollar per that unit. */
const PER: Record<string, readonly [what: string, scale: number]> = {
  promptPer1k: ['a million tokens in', 100_000],
  completionPer1k: ['a million tokens out', 100_000],
  perImage: ['an image', 100_000_000],
  perSecond: ['a second', 100_000_000],
  perPage: ['a page', 100_000_000],
  perMinute: ['a minute', 100_000_000],
}
const perOf = (name: string) => PER[name] ?? ([name, 100_000_000] as const)
const CENTS = 100

const priceOf = ({ price }: EnginePrice): string =>
  Object.entries(price)
    .map(([name, micro]) => `${money((Number(micro) / perOf(name)[1]) * CENTS)} for ${perOf(name)[0]}`)
    .join(', ')

export const Prices = defineScreen<EnginePrice>('engines', 'Engines', {
  isOperators: true,
  list: { path: '/engines/prices', rows: 'prices' },
  columns: [
    column('id', 'Engine', { main: true }),
    column('price', 'Price', { cell: priceOf, main: true, width: 'minmax(0, 3fr)' }),
    column('sample', 'For example', { width: 'minmax(0, 1.2fr)' }),
    moneyColumn('cost', 'That costs', ({ sample_cents }) => sample_cents, { main: true }),
    column('by', 'Set by', { cell: ({ set_by }) => set_by, width: '112px', main: true }),
  ],
  empty: { text: 'No prices.' },
  detail: {
    titleOf: ({ id }) => id,
    actions: ({ id, price, set_by }) => ({
      role: 'admin',
      actions: [
        {
          label: 'Change…',
          method: 'PUT',
          path: '/engines/prices',
          fields: Object.keys(price).map((name) => ({
            ...{ name: `prices.${id}.${name}`, label: `For ${perOf(name)[0]}, in dollars`, kind: 'number' as const },
            ...{ scale: perOf(name)[1], min: 0, required: true },
          })),
          values: { prices: { [id]: price } },
        },
        set_by === 'here' && {
          label: 'Reset…',
          method: 'PUT',
          path: '/engines/prices',
          body: { prices: { [id]: null } },
          ask: 'It costs what the configuration says, from the next call on.',
        },
      ],
    }),
    facts: (it) => ({
      Price: priceOf(it),
      'For example': `${it.sample}: ${money(it.sample_cents)}`,
      'Set by': it.set_by,
    }),
  },
})
