import { counted } from '../../src/kernel/text'
import type { TopicFacts } from '../../src/operators/topics-schema'
import { chosen, type Line, line, placed, textSpan } from '../draw/line'
import { spellAge } from '../draw/spell'
import { type Model, type Row, SCREENS, type Screen } from '../state/model'

/** Items that wait for a person, one entry per kind. */
type Need = TopicFacts<'overview'>['needs'][number]

/** Target screen and text of each kind. */
const NEEDS: Readonly<Record<string, { screen: Screen; says(count: number, need: Need): string }>> = {
  visitors: { screen: 'takeovers', says: (n) => `${counted(n, 'visitor')} waiting for a human` },
  submissions: { screen: 'submissions', says: (n) => `${counted(n, 'skill submission')} pending` },
  webhooks: {
    screen: 'deliveries',
    says: (n, { failures }) => `${counted(n, 'webhook')} off after ${failures || ''}${failures ? ' ' : ''}failures`,
  },
  increases: { screen: 'keys', says: (n) => counted(n, 'tier increase request') },
}

export const needsOf = (model: Model): Need[] => (model.topics.overview?.facts.needs ?? []) as Need[]

/** The rows of the overview that can be selected. */
export const overviewRows = (model: Model): Row[] => needsOf(model).map((need) => ({ ...need, id: need.kind }))

/** A waiting item as spoken text: "2 visitors waiting for a human (shop-help)". */
export const spokenNeed = (need: Need): string =>
  `${NEEDS[need.kind]?.says(need.count, need) ?? need.kind}${need.about ? ` (${need.about})` : ''}`

export const screenOfNeed = (kind: string): Screen => NEEDS[kind]?.screen ?? 'overview'

/** Items that wait for a person, as rows of the overview. */
export function needRows(model: Model, width: number): Line[] {
  const needs = needsOf(model)
  if (!needs.length) return [line(textSpan('   ✓ nothing needs attention', 'good'))]
  const picked = model.lists.overview.chosen
  const at = Math.max(
    0,
    needs.findIndex(({ kind }) => kind === picked),
  )
  return needs.map((need, place) => {
    const { kind, count, about, since } = need
    const age = since ? spellAge(model.now - Date.parse(since)) : ''
    const mark = place === at ? '▸  ' : '   '
    const text = placed(
      width,
      [
        0,
        line(
          mark,
          textSpan('! ', 'warn'),
          NEEDS[kind]?.says(count, width > 60 ? need : { ...need, failures: 0 }) ?? kind,
        ),
      ],
      ...(width > 60 ? [[42, textSpan(about)] as const] : []),
      [width > 60 ? width - 16 : width - 12, age],
      [width - 5, String(SCREENS.indexOf(screenOfNeed(kind)) + 1)],
    )
    return place === at ? chosen(text) : text
  })
}
