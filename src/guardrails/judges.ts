import type { Inspected } from './guardrail'
import { type Judged, type Judgement, judge, judgeEach } from './judge'
import type { Policy } from './policy'

export type Judge = ReturnType<typeof createJudge>

/** Asks the rules of a policy. */
export function createJudge() {
  return {
    /** What the rules of a phase make of a text. */
    text: (policy: Policy, text: string, about: Inspected): Promise<Judgement> =>
      judge(policy.of(about.phase), text, about),

    /** What each rule of a phase says of it. */
    each: (policy: Policy, text: string, about: Inspected): Promise<Judged> =>
      judgeEach(policy.of(about.phase), text, about),
  }
}
