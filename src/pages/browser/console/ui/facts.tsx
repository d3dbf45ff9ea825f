import type { ReactNode } from 'react'
import { Bar } from './controls'
import { money } from './format'

/** Names with what is true of them, one below the other. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, fact: ReactNode])[] }) => (
  <dl className="facts-list">
    {facts.map(([name, fact]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{fact}</dd>
      </div>
    ))}
  </dl>
)

type FigureProps = { name: ReactNode; figure: string; children: ReactNode; bar?: ReactNode }

/** One figure large, with its name above and what it means below; of a list of tiles. */
export const Figure = ({ name, figure, children, bar }: FigureProps) => (
  <li className="card figure">
    {typeof name === 'string' ? <span>{name}</span> : name}
    <b>{figure}</b>
    <small>{children}</small>
    {bar}
  </li>
)

/** What was spent, against its cap. */
export const Spent = ({ name, used, cap }: { name: string; used: number; cap: number | null }) => (
  <Figure
    name={name}
    figure={money(used)}
    bar={cap !== null && <Bar used={used} of={cap} label={`${name}: ${money(used)} of ${money(cap)}`} />}
  >
    {cap === null ? 'no cap' : `of ${money(cap)}`}
  </Figure>
)
