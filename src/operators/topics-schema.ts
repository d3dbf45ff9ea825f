import type { TopicName } from './schema-stream'
import type { Readers } from './topics'

type Found<Name extends TopicName> = Awaited<ReturnType<Readers[Name]>>
/** What the dashboard gets of a topic: one of its rows, and the facts beside them. */
export type TopicRow<Name extends TopicName> = Found<Name>['rows'][number]
export type TopicFacts<Name extends TopicName> = Found<Name>['facts']
