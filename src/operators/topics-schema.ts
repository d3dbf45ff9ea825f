import type { TopicName } from './schema-stream'
import type { Readers } from './topics'

type Found<Name extends TopicName> = Awaited<ReturnType<Readers[Name]>>
/** The dashboard's data of a topic: one row, and its facts. */
export type TopicRow<Name extends TopicName> = Found<Name>['rows'][number]
export type TopicFacts<Name extends TopicName> = Found<Name>['facts']
