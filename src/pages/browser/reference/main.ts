import { pageData } from '../shared/dom'
import { announcer } from './announce'
import { type Call, tryIt } from './panel'
import { withTabs } from './samples'

/** The reference reads without this script, which adds tabs, copying and "Try it" (dx 5.5). */
const announce = announcer()
withTabs(announce)
for (const call of pageData<Call[]>('calls') ?? []) {
  const heading = document.getElementById(call.id)
  if (heading?.parentElement) tryIt(heading.parentElement, heading.textContent ?? '', call)
}
document.documentElement.dataset.ready = 'true'
