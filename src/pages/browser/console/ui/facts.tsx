import type { ReactNode } from 'react'
import { Bar } from './controls'
import { money } from './format'

/** Names with their values, one below the other. */
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

/** A tile with one large figure, its name above and its meaning below. */
export const Figure = ({ name, figure, children, bar }: FigureProps) => (
  <li className="card figure">
    {typeof name === 'string' ? <span>{name}</span> : name}
    <b>{figure}</b>
    <small>{children}</small>
    {bar}
  </li>
)

/** The spent amount and its cap. */
export const Spent = ({ name, used, cap }: { name: string; used: number; cap: number | null }) => (
  <Figure
    name={name}
    figure={money(used)}
    bar={cap !== null && <Bar used={used} of={cap} label={`${name}: ${money(used)} of ${money(cap)}`} />}
  >
    {cap === null ? 'no cap' : `of ${money(cap)}`}
  </Figure>
)
