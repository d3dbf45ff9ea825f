CREATE TABLE "rate_counts" (
	"subject" text NOT NULL,
	"name" text NOT NULL,
	"node" text NOT NULL,
	"second" bigint NOT NULL,
	"weight" bigint NOT NULL,
	"apart" bigint NOT NULL,
	CONSTRAINT "rate_counts_subject_name_node_second_pk" PRIMARY KEY("subject","name","node","second")
);
--> statement-breakpoint
CREATE INDEX "rate_counts_by_second" ON "rate_counts" USING btree ("second");