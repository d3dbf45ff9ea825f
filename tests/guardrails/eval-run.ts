/** Prints how well the guardrails do on the held-out texts: what is found and missed, calibration, speed. */
import {
  attackOutcomes,
  cleanTexts,
  f1Of,
  ordinaryTexts,
  piiOutcomes,
  prepared,
  recallOf,
  type Scored,
  safetyOutcomes,
  secretlessTexts,
  secretOutcomes,
  shareOf,
  sumOf,
  touchedShare,
} from './evaluate'
import { longTexts, slowest, timesOf } from './speed'

const percent = (part: number) => `${(part * 100).toFixed(1)} %`

say('\npersonal data       found  missed  besides  F1')
const kinds = await piiOutcomes()
for (const [kind, tally] of [...kinds, ['all', sumOf(kinds.values())] as const]) {
  const { hits, misses, extras } = tally
  const numbers = [hits, misses, extras].map((count) => String(count).padStart(6)).join(' ')
  say(`${kind.padEnd(18)} ${numbers}   ${f1Of(tally).toFixed(3)}`)
}
say(`clean texts touched ${percent(await touchedShare(prepared('pii'), cleanTexts()))}`)

const secrets = await secretOutcomes()
say(`\nsecrets             ${secrets.hits} found, ${secrets.misses} missed, recall ${percent(recallOf(secrets))}`)
say(`clean texts touched ${percent(await touchedShare(prepared('secrets'), secretlessTexts()))}`)

const ordinary = ordinaryTexts()
const touched = percent(await touchedShare(prepared('profanity'), ordinary))
say(`\nprofanity           clean texts touched ${touched} of ${ordinary.length} in many languages`)

tell('injection and jailbreak', await attackOutcomes())
tell('the same, in words chosen to be unlike any that were learned', await attackOutcomes('attacks-fresh'))
tell('honest prompts that give a role, a tone or a rule for the answer', await attackOutcomes('roles'))
tell('content safety', await safetyOutcomes())

const times = timesOf(longTexts())
say(`\nall checks of prompts on 4 KB: ${slowest(times).toFixed(2)} ms on the slowest text`)
for (const [id, all] of times) say(`${id.padEnd(20)} ${Math.max(...all).toFixed(3)} ms`)

function tell(name: string, outcomes: readonly Scored[]): void {
  const meant = outcomes.filter(({ isMeant }) => isMeant)
  const clean = outcomes.filter(({ isMeant }) => !isMeant)
  const fires = ({ score }: Scored) => score >= 0.8
  say(`\n${name}: ${meant.length} meant, ${clean.length} look-alikes`)
  say(`recall ${percent(shareOf(meant, fires))}, false alarms ${percent(shareOf(clean, fires))}`)
  const labels = [...new Set(outcomes.map(({ label }) => label))]
  say(`rows: what it is; columns: taken for\n${' '.repeat(12)}${labels.map((one) => one.padStart(11)).join('')}`)
  for (const label of labels) {
    const row = outcomes.filter((one) => one.label === label)
    say(
      label.padEnd(12) + labels.map((got) => String(row.filter((one) => one.got === got).length).padStart(11)).join(''),
    )
  }
  say('score       texts  meant')
  for (let from = 0; from < 10; from += 2) {
    const bar = outcomes.filter(({ score }) => Math.min(4, Math.floor(score * 5)) === from / 2)
    if (bar.length)
      say(`from 0.${from}    ${String(bar.length).padStart(4)}  ${percent(shareOf(bar, ({ isMeant }) => isMeant))}`)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
