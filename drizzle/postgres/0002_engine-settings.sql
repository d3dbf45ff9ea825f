CREATE TABLE "engine_settings" (
	"id" bigint PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	"value" text NOT NULL
);
