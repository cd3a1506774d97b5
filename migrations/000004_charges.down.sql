DROP TRIGGER orders_wait_for_charge ON orders;
DROP FUNCTION orders_wait_for_charge();
DROP TABLE provider_calls;
DROP TABLE charge_history;
DROP TABLE charges;
DROP FUNCTION charges_remember();
DROP FUNCTION charges_guard();
DELETE FROM legal_moves WHERE noun = 'charge';
