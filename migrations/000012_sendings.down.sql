DROP TABLE provider_sendings;
