ALTER TABLE stock_moves DROP CONSTRAINT stock_moves_merchant_id_order_id_fkey;
DROP TABLE order_items;
DROP TABLE orders;
DROP FUNCTION order_items_frozen();
DROP FUNCTION orders_sum_of_lines();
DROP FUNCTION orders_guard();
DROP TABLE legal_moves;
DROP TABLE cart_items;
DROP TABLE carts;
